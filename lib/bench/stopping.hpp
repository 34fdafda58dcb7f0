// Decides when a trial has been repeated often enough. Pure functions.
#pragma once

#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::bench {

// Returns half the width of the 95 % interval of the median, divided by the median; infinity for fewer than five
// repeats.
double relative_error(const std::vector<double>& images_per_s);

// Returns whether the trial ends after the repeats so far, which took `spent_s` seconds in total: because there are
// measure.repeats of them, measure.max_seconds is used up, or measure.relative_error is reached. Without a repeat it
// never ends.
bool is_finished(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s, double spent_s);

// Returns whether a finished trial asked for a relative error and did not reach it.
bool is_unstable(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s);

}  // namespace chexbench::bench
