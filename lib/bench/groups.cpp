#include "bench/groups.hpp"

#include <algorithm>

namespace chexbench::bench {
namespace {

bool share_an_engine(const results::TrialResult& a, const results::TrialResult& b) {
  const spec::Experiment& x = a.spec;
  const spec::Experiment& y = b.spec;
  return a.ranks == b.ranks && x.engine == y.engine && x.model == y.model && x.training == y.training &&
         x.comm == y.comm && x.emulation == y.emulation && spec::delivered(x.data) == spec::delivered(y.data) &&
         x.cores_per_rank == y.cores_per_rank && x.all_cores == y.all_cores;
}

}  // namespace

std::vector<ArmGroup> group_arms(const std::vector<results::TrialResult>& trials) {
  std::vector<ArmGroup> groups;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const ArmGroup& group) {
      return share_an_engine(trials[group.arms.front()], trials[i]);
    });
    if (same != groups.end()) {
      same->arms.push_back(i);
    } else {
      groups.push_back({.ranks = trials[i].ranks, .arms = {i}});
    }
  }
  return groups;
}

}  // namespace chexbench::bench
