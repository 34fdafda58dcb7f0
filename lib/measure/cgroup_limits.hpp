// What the cgroup that this process is in lets it have: containers, Slurm and systemd limit by cgroups.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// Empty where nothing limits, or nothing can be read.
struct CgroupLimits {
  std::optional<double> cpus;  // CPU time a second: threads stop once it is used up
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_used_bytes;  // the page cache of its files counts; where memory_bytes is from
  std::vector<int> cpuset;                         // CPUs that it may run on
};

// The strictest limit of the process's cgroup and of those above it; version 2 (cpu.max, memory.max,
// cpuset.cpus.effective), or version 1's controllers.
CgroupLimits probe_cgroup_limits(const SystemRoots& roots = {});

}  // namespace chexbench::measure
