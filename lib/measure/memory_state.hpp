// How the machine's memory is used now.
#pragma once

#include <cstdint>
#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// 0, or empty, where the kernel does not tell.
struct MemoryState {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;  // without swapping; what the page cache can give back counts
  std::uint64_t page_cache_bytes = 0;
  std::string transparent_huge_pages;  // always, madvise, never
};

MemoryState probe_memory(const SystemRoots& roots = {});

}  // namespace chexbench::measure
