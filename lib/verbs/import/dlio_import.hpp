// Makes an experiment and an accelerator profile of a workload of DLIO.
#pragma once

#include <string>

#include "spec/profile.hpp"
#include "verbs/import/dlio_workload.hpp"

namespace chexbench::verbs {

// Two files in one folder.
struct DlioImport {
  std::string spec_path, spec_text;        // an experiment with comments, which names the profile
  std::string profile_path, profile_text;  // for engine emulated:<profile_path>
};

// Returns the accelerator of a workload: one entry, whose time of a step is train.computation_time. `source` is the
// origin of the workload.
spec::AcceleratorProfile dlio_profile(const DlioWorkload& workload, const std::string& source);

// Returns the files of a workload in `folder`. Writes nothing.
// @throws SpecError if the workload makes no valid experiment
DlioImport import_dlio(const DlioWorkload& workload, const std::string& source, const std::string& folder);

// Returns the report of an import: the workload in numbers, the parts left out, and the next commands.
std::string import_summary(const DlioWorkload& workload, const DlioImport& made);

}  // namespace chexbench::verbs
