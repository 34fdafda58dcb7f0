#include "spec/alike.hpp"

#include <functional>
#include <string>

#include "spec/keys.hpp"

namespace chexbench::spec {
namespace {

template <class Part>
void mix(std::size_t& hash, const Part& part) {
  hash = (hash ^ std::hash<Part>()(part)) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32U;
}

}  // namespace

void leave_out_ranks(TrialSpec& experiment) { experiment.ranks = 0; }

std::size_t TrialSpecHash::operator()(const TrialSpec& experiment) const {
  std::size_t hash = 0;
  for (const KeyRule& rule : key_rules()) mix(hash, rule.get(experiment));
  mix(hash, experiment.ranks);
  mix(hash, experiment.pipeline.name);
  for (const OpSpec& op : experiment.pipeline.ops) {
    mix(hash, op.op);
    for (const auto& [name, value] : op.parameters) mix(hash, value);
  }
  return hash;
}

}  // namespace chexbench::spec
