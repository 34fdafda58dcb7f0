// Derives the findings at the end of a run.
#pragma once

#include "results/record.hpp"

namespace chexbench::verbs {

// Inserts the findings of the measured trials and of their data sets' staging records before report.findings, which
// come from the plan. Reads these records from disk. Call it once for a report.
void conclude(results::Report& report);

}  // namespace chexbench::verbs
