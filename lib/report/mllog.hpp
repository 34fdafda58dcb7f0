// Formats the result as log lines of MLPerf Training, for tools that read those.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::report {

// Returns one line per event, ordered by time, in the format of github.com/mlcommons/logging: ":::MLLOG " and a JSON
// object. Each repeat is a separate run, from run_start to run_stop. The metadata of each line contain its trial and
// repeat, and whether its engine is emulated.
std::string mllog_text(const results::Report& report);

}  // namespace chexbench::report
