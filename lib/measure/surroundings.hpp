// The conditions on this machine under which a measurement runs, and warnings about those that distort its figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/cgroup_limits.hpp"
#include "measure/data_place.hpp"
#include "measure/machine.hpp"
#include "measure/memory_state.hpp"
#include "measure/network.hpp"

namespace chexbench::measure {

// One of the ranks that were started together, and the cores it was bound to.
struct BoundRank {
  std::string host;
  std::vector<int> cores;  // one CPU of each physical core that it was bound to
  int cores_per_rank = 0;  // its share of the cores, according to `cores_per_rank: auto`
};

// An environment variable that is set for this process.
struct EnvironmentSetting {
  std::string name;
  std::string value;
};

// The input of warnings().
struct Surroundings {
  CpuLayout cpu;
  CgroupLimits cgroup;
  MemoryState memory;
  SharedMemory shared;
  std::vector<NetworkInterface> network;
  std::vector<EnvironmentSetting> threading;  // the variables that control OpenMP's threads
  std::vector<BoundRank> ranks;               // at least one; the first one is on this host
  std::string mpi;                            // "MPICH 4.0.2" or "none"
  std::optional<DataPlace> data;              // set if the caller asked about a data folder
};

// Returns the names of the environment variables that may be in Surroundings::threading.
const std::vector<std::string>& threading_variables();

// Returns one sentence per condition that distorts figures measured here, each with its remedy. A condition counts
// only if it moves figures by more than their noise. Pure.
std::vector<std::string> warnings(const Surroundings& surroundings);

}  // namespace chexbench::measure
