// How the machine's memory is used at the moment, and the memory that its processes share as files.
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

// The memory of /dev/shm, of which MPI takes some for each rank.
struct SharedMemory {
  bool exists = false;            // MPI can do without
  std::uint64_t total_bytes = 0;  // 0 also without a limit, which UCX treats as no memory at all
  std::uint64_t free_bytes = 0;
  std::string problem;  // why this process cannot write there, or ""
};

// Thread-safe.
SharedMemory probe_shared_memory(const SystemRoots& roots = {});

// Returns the memory that MPICH over UCX takes for the ranks of one host: the same for each, regardless of how much
// they send.
std::uint64_t shared_bytes_of(std::uint64_t ranks);

// The remedy if that is more than there is, for the end of a sentence.
inline constexpr const char* kMoreSharedMemory =
    "give the container more (`docker run --shm-size=1g` or `--ipc=host`; Kubernetes: an emptyDir of medium Memory at "
    "/dev/shm)";

}  // namespace chexbench::measure
