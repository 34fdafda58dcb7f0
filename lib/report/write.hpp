// The result files of a run.
#pragma once

#include <string>
#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// Writes report.json, trials.csv, steps.csv and, where a GPU was sampled, gpu.csv into `folder`, which must exist, each
// as a whole or not at all, and returns their paths. May be called again as trials finish. @throws OutputError
std::vector<std::string> write_report(const Report& report, const std::string& folder);

// The report as "table", "json" (report.json), "csv" (trials.csv) or "markdown". @throws SpecError for another format
std::string format_report(const Report& report, const std::string& format);

}  // namespace chexbench::report
