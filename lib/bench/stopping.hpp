// When a trial has been repeated often enough.
#pragma once

#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::bench {

// Half the width of the 95 % interval of the median over the median; infinite under five repeats.
double relative_error(const std::vector<double>& images_per_s);

// True when the trial ends after the repeats measured so far, which took `spent_s` together: all asked for are there,
// measure.max_seconds is used up, or measure.relative_error is reached.
bool is_finished(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s, double spent_s);

// True for a finished trial that asked for a relative error and did not reach it.
bool is_unstable(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s);

}  // namespace chexbench::bench
