// The images/s of a trial over its repeats, and ratios between trials that were measured in turn.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// Returns the images/s of each repeat, in their order.
std::vector<double> rates(const TrialResult& trial);

// Returns the median of rates(trial). The trial must have a repeat.
double median_rate(const TrialResult& trial);

// Returns the number of measured steps per repeat and rank: measure.steps, or, in a training over epochs, the number
// that the first repeat had, because there the data set determines it.
std::size_t measured_steps(const TrialResult& trial);

// Returns the ratio of a's images/s to b's with its 95 % interval (measure::paired_ratio), over the rounds (repeats of
// the same number) in which both were measured. Rounds run the trials in turn, so drift that both share cancels out.
// Returns std::nullopt if there is no such round, or if b's median is 0. Deterministic: the seed comes from a's spec.
std::optional<measure::Ratio> paired_rates(const TrialResult& a, const TrialResult& b);

}  // namespace chexbench::results
