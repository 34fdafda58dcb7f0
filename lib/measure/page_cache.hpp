// Bringing the data set's files into the page cache, or out of it, before a repeat.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::measure {

// Whether a state's word says "(not verified)".
bool is_doubtful(const std::string& word);

struct PageCacheState {
  std::string word;    // "warm", "cold", "as_is", "warm (not verified)", "cold (not verified)"
  std::string reason;  // why it could not be verified, with the file's name; empty otherwise
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;           // of all files
  std::uint64_t resident_bytes = 0;  // in the page cache afterwards, as far as mincore tells
};

// warm: reads every file through. cold: writes dirty pages back and drops each file (POSIX_FADV_DONTNEED). Either is
// then verified with mincore, whose answer is true only for files that this user owns or may write (Linux 5.2), and
// dropping does nothing on tmpfs, nor to pages that a process has mapped: then the word says "(not verified)". as_is:
// touches nothing. Call it on one rank of a host, with no other user of the files running. @throws DataError for a file
// that cannot be read
PageCacheState prepare_page_cache(spec::PageCache goal, std::span<const std::string> paths);

// How much of files is in the page cache now. Touches nothing.
struct CachedShare {
  std::uint64_t files = 0;  // that could be looked at
  std::uint64_t bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t unknown_files = 0;  // of another owner, for which the kernel does not tell: not among `files`
};

// At most `most` of the paths, evenly over the list: neighbours were often written or read together.
std::vector<std::string> evenly(std::span<const std::string> paths, std::size_t most);

// Files that cannot be opened are left out. Thread-safe.
CachedShare look_at_page_cache(std::span<const std::string> paths);

}  // namespace chexbench::measure
