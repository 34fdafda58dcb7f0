// Reading results back from files.
#pragma once

#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// The text of a file; a pipe is read to its end. @throws DataError where it can't be read, or is beyond 1 GiB
std::string read_text(const std::string& path);

// The report in `folder`, where a run wrote it (write.hpp). @throws SpecError where there is no report.json in it,
// DataError where it cannot be read, is damaged or of another schema_version
Report read_report(const std::string& folder);

// Whether any repeat of any trial was measured.
bool has_results(const Report& report);

// The runs at `path`: a report.json, the folder of a run, or every report.json below a folder, ordered by path.
// @throws DataError naming the file that can't be read or is no report, or a folder without any
std::vector<Report> read_runs(const std::string& path);

}  // namespace chexbench::results
