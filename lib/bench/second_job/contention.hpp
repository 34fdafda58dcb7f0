// Jobs that exhaust one resource of a host and use little else, like iBench's sources of interference.
#pragma once

#include <string>
#include <vector>

#include "bench/second_job/counters.hpp"

namespace chexbench::bench {

// All of them count their work and end only by an error or a signal.

// Streams arrays larger than all caches through each of the cores (STREAM's triad), and counts bytes as STREAM does.
// @throws DeviceError if there is no memory for them
[[noreturn]] void stream_memory(const std::vector<int>& cores, SecondJobCounters& counters);

// Drops the files from the page cache again and again.
// @throws DataError if one cannot be opened
[[noreturn]] void drop_from_page_cache(const std::vector<std::string>& paths, SecondJobCounters& counters);

// Reads the files from storage, past the page cache (O_DIRECT), again and again.
// @throws DataError if one cannot be opened or read this way
[[noreturn]] void read_from_storage(const std::vector<std::string>& paths, SecondJobCounters& counters);

// Returns the bytes that stream_memory() streams through: four times the largest cache, at least 256 MiB and at most an
// eighth of the memory. A pure function.
std::uint64_t streamed_bytes(std::uint64_t cache_bytes, std::uint64_t memory_bytes);

}  // namespace chexbench::bench
