// What was measured as the log lines of MLPerf Training, for tools that read those.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// One line an event, in the order of time, as github.com/mlcommons/logging has them: ":::MLLOG " and a JSON object. A
// repeat is a run of its own, from run_start to run_stop; its trial stands in the metadata of each of its lines.
std::string mllog_text(const results::Report& report);

}  // namespace chexbench::report
