// Computes the figures of a trial from its repeats. The formulas are in apps/chexbench/reference/README.md.
#pragma once

#include <map>
#include <optional>
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

// Compares the ranks of a trial with each other. It matters because averaging gradients makes all of them wait for the
// slowest.

// Returns by rank the seconds of one repeat's measured steps without the exposed communication, in which a rank waits
// for others.
std::map<int, double> own_times_s(const results::RepeatResult& repeat);

// How far the ranks of a trial are apart.
struct RankSpread {
  double spread = 0;  // (slowest - fastest) / fastest, of own_times_s() summed over the repeats that count
  int slowest = 0;    // number of the slowest rank
};

// Returns std::nullopt for fewer than two ranks, or if steps have no duration.
std::optional<RankSpread> rank_spread(const results::TrialResult& trial);

}  // namespace chexbench::analysis
