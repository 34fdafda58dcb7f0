// The images/s of a trial's repeats, and of trials that were measured in turn.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// Of each repeat, in their order.
std::vector<double> rates(const TrialResult& trial);

// Of a trial with repeats.
double median_rate(const TrialResult& trial);

// Measured steps of a repeat: in a training over epochs the data set decides how many there are.
std::size_t measured_steps(const TrialResult& trial);

// images/s of a to those of b, over the rounds that both have, so that what is compared was measured in turn. Nothing
// where there are none.
std::optional<measure::Ratio> paired_rates(const TrialResult& a, const TrialResult& b);

}  // namespace chexbench::results
