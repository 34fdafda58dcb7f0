// Makes report.json, which results/read.hpp reads.
#pragma once

#include <string>

#include "analysis/evaluation.hpp"

namespace chexbench::report {

// Returns the report as JSON: schema_version, environment, findings, ablations, and each trial with its resolved spec,
// figures, repeats, op counters, steps and samples of GPUs, but without traces. Numbers keep every bit; NaN (the loss
// of an engine that does no arithmetic) and numbers beyond results::kLargestMeasured become null.
std::string to_json(const analysis::Evaluation& evaluation);

}  // namespace chexbench::report
