// Parses the text of a report.json.
#pragma once

#include <string>
#include <string_view>

#include "results/record.hpp"

namespace chexbench::results {

// Parses a report. `name` begins error messages, e.g. the path. Figures are not read, but derived again from the
// repeats. Keys that are missing keep their defaults, so that reports written before a field was added can be read.
// @throws DataError if the text is no report, or one of a newer schema_version
Report report_from_json(std::string_view text, const std::string& name);

// Parses only the name of the experiment, of a report of any schema_version.
// @throws DataError if the text is no report
std::string experiment_from_json(std::string_view text, const std::string& name);

}  // namespace chexbench::results
