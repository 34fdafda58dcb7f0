#include "bench/core_layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "bench/rank_records.hpp"
#include "core/affinity.hpp"

namespace chexbench::bench {
namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

bool intersect(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int core) { return std::ranges::find(b, core) != b.end(); });
}

}  // namespace

HostCores host_cores_of(const std::vector<RankCores>& ranks, std::size_t rank) {
  const RankCores& own = ranks[rank];
  HostCores host{.cores = own.cores, .hyperthreads = own.hyperthreads, .sharers = 0, .host = own.host};
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].host != own.host) continue;
    if (r < rank) ++host.local_rank;
    if (ranks[r].cores == own.cores) {
      if (r < rank) ++host.place;
      ++host.sharers;
    } else {
      host.overlaps = host.overlaps || intersect(ranks[r].cores, own.cores);
    }
  }
  return host;
}

std::vector<RankCores> gather_rank_cores(comm::World& world) {
  RankCores own{.host = host_name(), .cores = usable_cores(), .hyperthreads = usable_cpus()};
  std::erase_if(own.hyperthreads, [&](int cpu) { return std::ranges::find(own.cores, cpu) != own.cores.end(); });
  return all_gather_records(world.communicator(), own);
}

std::string describe(const RankCores& rank) { return fmt::format("{}: {}", rank.host, fmt::join(rank.cores, " ")); }

HostCores find_host_cores(comm::World& world) {
  return host_cores_of(gather_rank_cores(world), static_cast<std::size_t>(world.communicator().rank()));
}

CoreShare share_cores(const HostCores& host, const spec::TrialSpec& spec, int ranks) {
  const int cores = static_cast<int>(host.cores.size());
  const int active_sharers = std::min(ranks, host.sharers);
  if (spec.all_cores) return {.cores = host.cores, .oversubscribed = host.overlaps || active_sharers > 1};
  const int wanted = spec.cores_per_rank.value_or(std::max(1, cores / host.sharers));
  const int first = host.place * wanted;
  CoreShare share;
  // Ranks beyond the number of cores get separate hyperthreads, while there are any, instead of another rank's CPU.
  const bool beyond = first >= cores && !host.hyperthreads.empty();
  const std::vector<int>& cpus = beyond ? host.hyperthreads : host.cores;
  const int begin = beyond ? first - cores : first, count = static_cast<int>(cpus.size());
  for (int i = 0; i < std::min(wanted, count); ++i) share.cores.push_back(cpus[(begin + i) % count]);
  share.oversubscribed = host.overlaps || active_sharers * wanted > cores;
  return share;
}

}  // namespace chexbench::bench
