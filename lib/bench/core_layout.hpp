// Decides which cores each rank gets, from the cores to which the launcher bound the ranks of a host.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/field.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// The cores of this host as this rank sees them. Find them once per process, before binding any thread, because binding
// hides the other cores from later queries.
struct HostCores {
  std::vector<int> cores;         // one CPU of each core that this process may use
  std::vector<int> hyperthreads;  // the other CPUs that it may use
  // Number of ranks of this host that may use exactly these cores, which are divided among them.
  int sharers = 1;
  int place = 0;          // of this rank among the sharers, from 0
  bool overlaps = false;  // another rank of this host may use some of these cores, but not exactly these
  int local_rank = 0;     // of this rank among the ranks of this host, from 0
  std::string host;       // name of the host
};

// A rank's description of itself for the others.
struct RankCores {
  std::string host;
  std::vector<int> cores;         // one CPU of each core that it may use
  std::vector<int> hyperthreads;  // the other CPUs that it may use
};
template <class Visitor, results::MaybeConst<RankCores> Record>
void visit_fields(Visitor&& visit, Record& rank) {
  visit("host", rank.host);
  visit("cores", rank.cores);
  visit("hyperthreads", rank.hyperthreads);
}

// Returns the host and the cores of every rank, in the order of ranks. Collective over the world.
// @throws DeviceError if a rank was lost
std::vector<RankCores> gather_rank_cores(comm::World& world);

// Derives the HostCores of rank `rank` from the descriptions of all ranks. A pure function.
HostCores host_cores_of(const std::vector<RankCores>& ranks, std::size_t rank);

// Finds out how the launcher has bound the ranks of this host. Collective over the world.
// @throws DeviceError if a rank was lost
HostCores find_host_cores(comm::World& world);

// Returns "node1: 0 1 2 3" for the report.
std::string describe(const RankCores& rank);

// The cores that one rank computes on.
struct CoreShare {
  std::vector<int> cores;
  bool oversubscribed = false;  // other ranks of the trial may also use some of them
};

// Returns this rank's share of the cores under `spec` in a trial of `ranks` ranks. The default number of cores,
// floor(cores / ranks that were started on them) but at least 1, does not depend on `ranks`: otherwise a single rank
// would take all cores, and scaling efficiency would be wrong by construction. A pure function.
CoreShare share_cores(const HostCores& host, const spec::TrialSpec& spec, int ranks);

}  // namespace chexbench::bench
