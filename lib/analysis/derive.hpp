// Computes the figures of a trial from its repeats. See apps/chexbench/reference/README.md for the formulas.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Computes a trial's figures. `all` is searched for the trial of the same arm at 1 rank, the base of the scaling
// efficiency. A trial without repeats has empty figures. Deterministic: the bootstrap intervals use the seed of the
// trial's spec. They take milliseconds per call.
results::Figures derive_figures(const results::TrialResult& trial, const std::vector<results::TrialResult>& all);

// Returns the figures of each of the trials, in their order.
std::vector<results::Figures> derive_all_figures(const std::vector<results::TrialResult>& trials);

// Returns whether two trials are the same arm, that is, have the same resolved spec except for `ranks`.
bool same_arm(const results::TrialResult& a, const results::TrialResult& b);

// Compares the ranks of a trial with each other, because averaging gradients makes all of them wait for the slowest.

// Returns, by rank, the seconds of one repeat's measured steps without exposed communication, in which a rank waits for
// others.
std::map<int, double> own_times_s(const results::RepeatResult& repeat);

// How much the ranks of a trial differ.
struct RankSpread {
  double spread = 0;  // (slowest - fastest) / fastest, of own_times_s() summed over the repeats that count
  int slowest = 0;    // number of the slowest rank
};

// Returns std::nullopt for fewer than two ranks, or if steps have no duration.
std::optional<RankSpread> rank_spread(const results::TrialResult& trial);

}  // namespace chexbench::analysis
