// Reading the result of an earlier run.
#pragma once

#include <string>

#include "report/record.hpp"

namespace chexbench::report {

// The report in `folder`, where a run wrote it (write.hpp).
// @throws SpecError where there is no report.json in it, DataError where it cannot be read, is damaged or of another
// schema_version
Report read_report(const std::string& folder);

// Whether any repeat of any trial was measured.
bool has_results(const Report& report);

}  // namespace chexbench::report
