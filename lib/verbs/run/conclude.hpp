// Derives the findings at the end of a run.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::verbs {

// Puts what the measured trials and the staging records of their data sets say in front of report.findings, which are
// those of the plan. Reads these records from disk. Call it once for a report.
void conclude(results::Report& report);

// Says whether it pays to stage a data set, by comparing what `data stage` took with what each epoch saves.

// Returns one finding of kind "economics" for each pair of measured trials that differ only in data.root and
// data.store, if the record in one root says that it was staged from the other. Reads these records from disk.
std::vector<results::Finding> staging_findings(const std::vector<results::TrialResult>& trials);

}  // namespace chexbench::verbs
