// The result files of a run.
#pragma once

#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::report {

// Writes trials.csv, steps.csv, ops.csv, gpu.csv (where a GPU was sampled), report.json, report.html and trace.json
// (where a trial was traced) into `folder`, which must exist, each as a whole or not at all, and returns their paths.
// May be called again as trials finish. @throws OutputError
std::vector<std::string> write_report(const results::Report& report, const std::string& folder);

// Writes mllog.txt (mllog.hpp) into `folder`, and returns its path. @throws OutputError
std::string write_mllog(const results::Report& report, const std::string& folder);

// The report as "table", "json" (report.json), "csv" (trials.csv), "markdown" or "html" (report.html).
// @throws SpecError for another format
std::string format_report(const results::Report& report, const std::string& format);

}  // namespace chexbench::report
