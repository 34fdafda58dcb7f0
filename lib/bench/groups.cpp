#include "bench/groups.hpp"

#include <utility>

#include "spec/alike.hpp"

namespace chexbench::bench {
namespace {

// Returns what trials must have in common to take turns on one engine, and defaults for all else.
spec::TrialSpec engine_part(const results::TrialResult& trial) {
  const spec::TrialSpec& spec = trial.spec;
  spec::TrialSpec part;
  part.ranks = trial.ranks;
  part.engine = spec.engine;
  part.model = spec.model;
  part.training = spec.training;
  part.comm = spec.comm;
  part.emulation = spec.emulation;
  part.data.deliver = spec::delivered(spec.data);
  part.cores_per_rank = spec.cores_per_rank;
  part.all_cores = spec.all_cores;
  return part;
}

}  // namespace

std::vector<ArmGroup> group_arms(const std::vector<results::TrialResult>& trials) {
  std::vector<ArmGroup> groups;
  spec::Numbering numbering;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::size_t group = numbering.of(engine_part(trials[i]));
    if (group == groups.size()) groups.push_back({.ranks = trials[i].ranks, .arms = {}});
    groups[group].arms.push_back(i);
  }
  return groups;
}

}  // namespace chexbench::bench
