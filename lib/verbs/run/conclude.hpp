// Derives the findings at the end of a run.
#pragma once

#include "results/record.hpp"

namespace chexbench::verbs {

// Puts what the measured trials and the staging records of their data sets say in front of report.findings, which are
// those of the plan. Reads these records from disk. Call it once for a report.
void conclude(results::Report& report);

}  // namespace chexbench::verbs
