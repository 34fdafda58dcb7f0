// Which trials share an engine, and therefore take turns.
#pragma once

#include <cstddef>
#include <vector>

#include "results/record.hpp"

namespace chexbench::bench {

// Indices into the report's trials, in its order. Arms of a group differ in their input only, so that one engine
// serves them all, and noise of the machine that comes and goes hits them alike.
struct ArmGroup {
  int ranks = 1;
  std::vector<std::size_t> arms;
};

// Trials with equal engine, model, training, communication, batch contents, ranks and cores.
std::vector<ArmGroup> group_arms(const std::vector<results::TrialResult>& trials);

}  // namespace chexbench::bench
