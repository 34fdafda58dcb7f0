// Writes report.json.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns the report as JSON: schema_version, environment, findings, ablations, and each trial with its resolved spec,
// figures, repeats, op counters, steps and samples of GPUs. Numbers keep every bit; NaN (the loss of an engine that
// does no arithmetic) becomes null.
std::string to_json(const results::Report& report);

}  // namespace chexbench::report
