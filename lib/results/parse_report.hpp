// Parses the text of a report.json, which report/json.hpp writes.
#pragma once

#include <string>
#include <string_view>

#include "results/record.hpp"

namespace chexbench::results {

// Parses a report. `name` begins error messages, e.g. the path. Figures and ablations are not read, because they can be
// derived again from the repeats; the trace of a trial is not in the file. Fields of records that are missing keep
// their defaults, so that reports written before a field was added can be read.
// @throws DataError if the text is not a report, has a schema_version other than kSchemaVersion, or if the spec of a
// trial is not valid
Report report_from_json(std::string_view text, const std::string& name);

// Parses only the name of the experiment. Accepts every schema_version.
// @throws DataError if the text is not a report
std::string experiment_from_json(std::string_view text, const std::string& name);

}  // namespace chexbench::results
