// What surrounds a measurement on this machine, and what of it spoils figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/cgroup_limits.hpp"
#include "measure/cpu_layout.hpp"
#include "measure/data_place.hpp"
#include "measure/memory_state.hpp"

namespace chexbench::measure {

// One of the ranks that were started together.
struct RankPlace {
  std::string host;
  std::vector<int> cores;  // that it was bound to: one CPU of each
  int cores_per_rank = 0;  // its share of them, as `cores_per_rank: auto` divides them
};

// An environment variable of this process that is set.
struct Setting {
  std::string name;
  std::string value;
};

struct Surroundings {
  CpuLayout cpu;
  CgroupLimits cgroup;
  MemoryState memory;
  std::vector<Setting> threading;  // what steers the threads of OpenMP
  std::vector<RankPlace> ranks;    // at least one; the first is of this host
  std::string mpi;                 // "MPICH 4.0.2" or "none"
  std::optional<DataPlace> data;   // where it was asked for
};

// The variables of the environment that Surroundings::threading may hold.
const std::vector<std::string>& threading_variables();

// What spoils figures that are measured here, a sentence each that says what to do. Pure.
std::vector<std::string> warnings(const Surroundings& surroundings);

}  // namespace chexbench::measure
