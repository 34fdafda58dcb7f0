// How the machine's memory is used at the moment.
#pragma once

#include <cstdint>
#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// A member is 0, or empty, if the kernel does not report it.
struct MemoryState {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  // without swapping; includes reclaimable page cache
  std::uint64_t page_cache_bytes = 0;
  std::string transparent_huge_pages;  // the mode: always, madvise or never
};

// Reads MemTotal, MemAvailable and Cached of /proc/meminfo, and the mode of transparent huge pages. Thread-safe.
MemoryState probe_memory(const SystemRoots& roots = {});

}  // namespace chexbench::measure
