// Computes the figures of a trial from its repeats. The formulas are in apps/chexbench/reference/README.md.
#pragma once

#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Computes a trial's figures by the formulas of apps/chexbench/reference/README.md. `all` is searched for the trial of
// the same arm at 1 rank, which the scaling efficiency is relative to. A trial without repeats has empty figures.
// Deterministic: the bootstrap intervals use the seed of the trial's spec. They make a call take milliseconds.
results::Figures derive_figures(const results::TrialResult& trial, const std::vector<results::TrialResult>& all);

// Returns the figures of each of the trials, in their order.
std::vector<results::Figures> derive_all_figures(const std::vector<results::TrialResult>& trials);

// Returns whether two trials are the same arm, that is, have the same resolved spec except for `ranks`.
bool same_arm(const results::TrialResult& a, const results::TrialResult& b);

}  // namespace chexbench::analysis
