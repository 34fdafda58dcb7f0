// The machine's CPUs as the kernel numbers them, with their frequency governors and the current load.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// Describes the CPUs that are online. A count is 0, and a list empty, if the kernel does not report it.
struct CpuLayout {
  int sockets = 0;
  int physical_cores = 0;
  int hardware_threads = 0;
  std::vector<std::vector<int>> numa_nodes;  // the CPUs of each node that has any, ordered by node number
  std::map<std::string, int> governors;      // frequency governor -> number of CPUs that it controls
  // The one-minute load average: runnable and blocked threads of the whole machine.
  std::optional<double> load;
};

// Reads sysfs, for which tests can substitute a folder. Thread-safe.
CpuLayout probe_cpu_layout(const SystemRoots& roots = {});

}  // namespace chexbench::measure
