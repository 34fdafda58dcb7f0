// Which cores each rank gets.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "spec/experiment.hpp"

namespace chexbench::bench {

// The cores of this host as this rank sees them. Found once per process: binding a thread hides cores from later looks.
struct HostCores {
  std::vector<int> cores;  // this process may use
  // Ranks of this host that may use just these cores: they must be divided among them. `place`: of this rank.
  int sharers = 1;
  int place = 0;
  // Another rank of this host may use some of these cores, but not just these.
  bool overlaps = false;
  int local_rank = 0;
  std::string host;  // its name
};

// What one rank tells the others of itself.
struct RankCores {
  std::string host;
  std::vector<int> cores;
};

// Collective over the world: what every rank tells, in the order of ranks.
std::vector<RankCores> gather_rank_cores(comm::World& world);

// What rank `rank` of `ranks` makes of it.
HostCores host_cores_of(const std::vector<RankCores>& ranks, std::size_t rank);

// Collective over the world: finds out how the launcher has bound the ranks of this host.
HostCores find_host_cores(comm::World& world);

struct CoreShare {
  std::vector<int> cores;       // of this rank
  bool oversubscribed = false;  // ranks x cores_per_rank > cores of the host
};

// This rank's share under `spec`. The default, floor(cores / ranks started on them), is the same in every sub-world:
// otherwise a rank alone would take all cores and scaling efficiency would be wrong by construction.
CoreShare share_cores(const HostCores& host, const spec::Experiment& spec, int ranks);

}  // namespace chexbench::bench
