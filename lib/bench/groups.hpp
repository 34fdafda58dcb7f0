// Decides which trials share an engine, and therefore take turns.
#pragma once

#include <cstddef>
#include <vector>

#include "results/record.hpp"

namespace chexbench::bench {

// Trials that differ only in their input. One engine serves them all, and because they take turns, noise of the machine
// that comes and goes hits them alike.
struct ArmGroup {
  int ranks = 1;
  std::vector<std::size_t> arms;  // indices into the report's trials, ascending
};

// Groups the trials that have the same engine, model, training, communication, delivered batches, ranks and cores. The
// groups are in the order of their first trials. A pure function.
std::vector<ArmGroup> group_arms(const std::vector<results::TrialResult>& trials);

}  // namespace chexbench::bench
