// Formats the result for Bencher (bencher.dev), which tracks results by commit and reports regressions.
#pragma once

#include <string>

#include "analysis/evaluation.hpp"

namespace chexbench::report {

// Returns Bencher Metric Format: a JSON object with a member for each finished trial (swept_keys.hpp): `throughput`,
// images/s with the ends of its 95 % interval, if any, as lower_value and upper_value, and `wait-share`, from 0 to 1,
// if the trial has one. Logs a warning for each trial that is left out.
// @throws DataError if no trial was measured completely
std::string bencher_json(const analysis::Evaluation& evaluation);

}  // namespace chexbench::report
