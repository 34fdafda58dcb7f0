// The limits that Linux control groups (cgroups) put on this process. Containers, Slurm and systemd set limits this
// way.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// A member is std::nullopt, and the cpuset empty, if there is no limit or it cannot be read.
struct CgroupLimits {
  std::optional<double> cpus;  // CPU seconds per second; beyond that, the kernel stops the threads
  std::optional<std::uint64_t> memory_bytes;
  // Memory in use by the cgroup that has the limit `memory_bytes`, including the page cache of files that it read.
  std::optional<std::uint64_t> memory_used_bytes;
  std::vector<int> cpuset;  // CPUs that the process may run on
};

// Reads the limits of the process's cgroup and of all cgroups above it, and returns the strictest of each kind. Reads
// cgroup version 2 (cpu.max, memory.max, cpuset.cpus.effective) and the controllers of version 1. Never throws
// because of a missing or damaged file. Thread-safe.
CgroupLimits probe_cgroup_limits(const SystemRoots& roots = {});

// Returns the seconds for which a CPU limit stopped the process's cgroup since its creation (cpu.stat); 0 if there is
// no limit or it cannot be read. Thread-safe.
double cgroup_throttled_s(const SystemRoots& roots = {});

}  // namespace chexbench::measure
