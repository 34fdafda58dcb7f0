// Derives the findings at the end of a run.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::verbs {

// Inserts the findings of the measured trials and of their data sets' staging records before report.findings, which
// come from the plan. Reads these records from disk. Call it once for a report.
void conclude(results::Report& report);

// Decides whether staging a data set pays, by comparing the time of `data stage` with the savings per epoch.

// Returns one finding of kind "economics" for each pair of measured trials that differ only in data.root and
// data.store, if one root's record shows that it was staged from the other. Reads these records from disk.
std::vector<results::Finding> staging_findings(const std::vector<results::TrialResult>& trials);

}  // namespace chexbench::verbs
