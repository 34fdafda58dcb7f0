// The variant for builds without hwloc: every CPU of the affinity mask counts as a core.
#include "core/affinity.hpp"

namespace chexbench {

std::vector<int> usable_cores() {
  std::vector<int> cpus = usable_cpus();
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

}  // namespace chexbench
