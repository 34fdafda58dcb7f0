// Derives the findings at the end of a run.
#pragma once

#include "results/record.hpp"

namespace chexbench::verbs {

// Replaces report.findings by what the measured trials and the staging records of their data sets say. Reads these
// records from disk.
void conclude(results::Report& report);

}  // namespace chexbench::verbs
