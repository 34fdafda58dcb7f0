// The machine's CPUs as the kernel lays them out, and how they are clocked and used now.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// Of CPUs that are online. A count is 0, and a list empty, where the kernel does not tell.
struct CpuLayout {
  int sockets = 0;
  int physical_cores = 0;
  int hardware_threads = 0;
  std::vector<std::vector<int>> numa_nodes;  // the CPUs of each node that has any, by its number
  std::map<std::string, int> governors;      // of frequency: CPUs that each one steers
  std::optional<double> load;                // runnable and blocked threads of the whole machine, mean of a minute
};

// Reads sysfs and not hwloc, which would tell the same from the same files, so that a build without hwloc knows it too
// and tests can put a folder in its place.
CpuLayout probe_cpu_layout(const SystemRoots& roots = {});

}  // namespace chexbench::measure
