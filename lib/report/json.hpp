// Makes report.json, which results/read.hpp reads.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analysis/derive.hpp"

namespace chexbench::report {

// Returns the report as JSON: schema_version, environment, findings, ablations, and each trial with its resolved spec,
// figures, repeats, op counters, steps and samples of GPUs, but without traces. Numbers keep every bit; NaN (the loss
// of an engine that does no arithmetic) and numbers beyond results::kLargestMeasured become null.
std::string to_json(const analysis::Evaluation& evaluation);

// Adds the arrays that report.json and report.html share: `ablations`, and `second_jobs` with an object per trial that
// ran alongside a second job and also alone. Rates of the second job are in images/s, or in bytes/s if
// `second_counts_bytes`, and null if its kind has none.
void add_comparisons(const analysis::Evaluation& evaluation, nlohmann::ordered_json& object);

}  // namespace chexbench::report
