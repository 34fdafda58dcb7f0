// How much a trial and a second job on its host (spec second_job) slow each other down.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// The rates of a second job over the repeats that count: images/s, or bytes/s if `counts_bytes`.
struct SecondJobRates {
  bool counts_bytes = false;
  double alone = 0;     // median
  double beside = 0;    // median
  measure::Ratio kept;  // `beside` / `alone`, paired by repeat
};

// A trial with a second job, the same trial alone, and the remaining share of each one's rate.
struct SecondJobCost {
  Pair pair;                             // its base is the trial alone
  std::optional<SecondJobRates> second;  // empty for kinds without a rate (page_cache)
};

// Returns the costs for each of `trials` with a second job whose twin without one is in `all`.
std::vector<SecondJobCost> second_job_costs(const Trials& trials, const Trials& all);

// Returns whether the second job trains on an emulated engine; every mention of its rate must include that.
bool second_job_is_emulated(const spec::TrialSpec& spec);

// Returns the rates of the trial's second job; nothing if its kind has none.
std::optional<SecondJobRates> second_job_rates(const results::TrialResult& trial);

// Returns a finding of kind second_job for each cost, and one of kind second_job_resources for each trial with two or
// more kinds: which resource costs it most.
std::vector<results::Finding> second_job_findings(const std::vector<SecondJobCost>& costs);

}  // namespace chexbench::analysis
