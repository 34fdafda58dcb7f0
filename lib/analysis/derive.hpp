// Computes the figures of trials from their repeats, and those of a whole report once for all its outputs. See
// apps/chexbench/reference/README.md for the formulas.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analysis/ablation.hpp"
#include "analysis/comparison.hpp"
#include "analysis/second_job.hpp"
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

// Returns, by rank, the seconds of one repeat's measured steps without exposed communication, in which a rank waits for
// others.
std::map<int, double> own_times_s(const results::RepeatResult& repeat);

// How much the ranks of a trial differ: averaging gradients makes all of them wait for the slowest.
struct RankSpread {
  double spread = 0;  // (slowest - fastest) / fastest, of own_times_s() summed over the repeats that count
  int slowest = 0;    // number of the slowest rank
};

// Returns std::nullopt for fewer than two ranks, or if steps have no duration.
std::optional<RankSpread> rank_spread(const results::TrialResult& trial);

// A report and the data derived from it, once, because bootstraps take milliseconds per trial. Parts point into each
// other and into the report, which must outlive it. Not thread-safe.
struct Evaluation {
  Evaluation(const results::Report& of);  // implicit, so that writers also accept a report
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  const results::Report& report;
  const std::vector<results::Figures> figures;  // of each trial
  const Trials measured;
  const std::vector<SecondJobCost> second_jobs;

  // Derived on first use, because they take as long as the rest and not every format needs them.
  const std::vector<Ablation>& ablations() const;

 private:
  mutable std::optional<std::vector<Ablation>> ablations_;
};

}  // namespace chexbench::analysis
