// Writes the result files of a run.
#pragma once

#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "report/table.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// Writes the CSV files that have rows (csv.hpp), csv-metadata.json, report.json, report.html, and trace.json (if a
// trial was traced) into `folder`, which must exist. Returns their paths. Each file is replaced as a whole or not at
// all, so it may be called again as trials finish; a CSV file of an earlier call that would now be empty is removed.
// @throws OutputError if a file cannot be written; those before it are then complete
std::vector<std::string> write_report(const analysis::Evaluation& evaluation, const std::string& folder);

// Writes mllog.txt (other_tools.hpp) into `folder`, and returns its path.
// @throws OutputError if it cannot be written
std::string write_mllog(const results::Report& report, const std::string& folder);

// Returns the names of the formats of format_report().
const std::vector<std::string>& report_formats();

// @throws SpecError with the nearest name if `format` is not one of report_formats()
void check_report_format(const std::string& format);

// Returns the report as "table", "json" (report.json), "csv" (trials.csv), "markdown", "html" (report.html),
// "bencher", "google-benchmark" or "dlio" (other_tools.hpp). `options` apply to the table; Markdown uses only their
// folder.
// @throws SpecError if `format` is none of these
// @throws DataError if the format needs a completely measured trial and there is none
std::string format_report(const analysis::Evaluation& evaluation, const std::string& format,
                          const TableOptions& options = {});

}  // namespace chexbench::report
