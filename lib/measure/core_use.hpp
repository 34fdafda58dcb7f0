// What all processes of the machine make of some cores: whatever this process did not use itself was taken from it.
#pragma once

#include <optional>
#include <span>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// Counters since the machine or the cgroup started, in seconds. Only differences mean something.
struct CoreUse {
  double busy_s = 0;          // of the cores, by all processes and the kernel (/proc/stat without idle, iowait, steal)
  double steal_s = 0;         // of the cores, in which a hypervisor ran something else
  double throttled_s = 0;     // of all cores, in which the CPU limit of this process's cgroup stopped them
  double memory_stall_s = 0;  // in which threads of the machine waited for memory to be reclaimed (PSI, "some")
};

// Samples the counters of `cores`, which are numbers as the kernel gives them. The first two count in ticks of 10 ms;
// the last two are 0 if the kernel does not report them. Returns std::nullopt without /proc/stat. Thread-safe.
std::optional<CoreUse> sample_core_use(std::span<const int> cores, const SystemRoots& roots = {});

}  // namespace chexbench::measure
