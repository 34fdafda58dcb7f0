// Brings the data set's files into the page cache, or out of it, before a repeat, and reports how much is cached.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::measure {

// Returns whether the word of a PageCacheState includes "(not verified)".
bool is_doubtful(const std::string& word);

// The state that prepare_page_cache() left the files in. `bytes` and `resident_bytes` are 0 for the goal as_is.
struct PageCacheState {
  std::string word;  // "warm", "cold", "as_is", "warm (not verified)", "cold (not verified)"
  // Why the state could not be verified, with the name of the first such file; empty if it was verified.
  std::string reason;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;           // sum of the file sizes
  std::uint64_t resident_bytes = 0;  // in the page cache afterwards, as far as mincore reports it
};

// Prepares the page cache for the files at `paths`:
// - warm reads every file completely;
// - cold writes dirty pages back and drops each file (POSIX_FADV_DONTNEED);
// - as_is touches nothing.
// After warm and cold the state is verified with mincore. Its answer is true only for files that this user owns or may
// write (since Linux 5.2). Dropping has no effect on tmpfs, nor on pages that a process has mapped. In these cases the
// word includes "(not verified)". Call it on one rank per host while no other process uses the files.
// @throws DataError if a file cannot be opened, read or mapped
PageCacheState prepare_page_cache(spec::PageCache goal, std::span<const std::string> paths);

// How much of some files is in the page cache at the moment.
struct CachedShare {
  std::uint64_t files = 0;  // files whose state is known; the byte counts cover only these
  std::uint64_t bytes = 0;
  std::uint64_t resident_bytes = 0;
  // Files of another owner, for which the kernel does not report what is cached. They do not count in `files`.
  std::uint64_t unknown_files = 0;
};

// Returns at most `most` of the paths, spread evenly over the list, because adjacent files were often written or read
// together.
std::vector<std::string> evenly(std::span<const std::string> paths, std::size_t most);

// Reads the state of the files at `paths` without touching the page cache. Leaves out files that cannot be opened.
// Thread-safe.
CachedShare look_at_page_cache(std::span<const std::string> paths);

}  // namespace chexbench::measure
