// The trials of a run that tools for continuous benchmarking get, under names by which these tools compare runs.
#pragma once

#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::report {

// A trial that was measured to its end.
struct FinishedTrial {
  std::string name;                             // unique in the report; the same in each run of the same trials
  const results::TrialResult* trial = nullptr;  // into the report
};

// Returns the trials that were measured to their end, in their order, as "EXPERIMENT/TRIAL" with the mark of emulated
// ones (results::mark_of); a second trial of the same name gets " #2". Logs a warning for each trial that is left out:
// it has no repeat, or a repeat without images, or the run was interrupted before all of its repeats. A trial that
// measure.max_seconds ended is not left out, unless the run was also interrupted, when nothing tells the two apart.
// @throws DataError if none is left
std::vector<FinishedTrial> finished_trials(const results::Report& report);

}  // namespace chexbench::report
