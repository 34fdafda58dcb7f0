// Formats the result for Bencher (bencher.dev), which keeps the results of commits and tells when one gets worse.
#pragma once

#include <string>

#include "analysis/evaluation.hpp"

namespace chexbench::report {

// Returns Bencher Metric Format: a JSON object with a member for each finished trial (swept_keys.hpp). It has
// `throughput`, images/s with the ends of its 95 % interval as lower_value and upper_value if it has one, and
// `wait-share`, a share of 1, if the trial has it. Logs a warning for each trial that is left out.
// @throws DataError if no trial was measured to its end
std::string bencher_json(const analysis::Evaluation& evaluation);

}  // namespace chexbench::report
