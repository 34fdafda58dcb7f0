// Puts into sentences what NVML's figures say.
#pragma once

#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// Returns findings of these kinds. throttled: power or heat held the clocks down in more than 5 % of the samples.
// nvml_differs: NVML's utilization and busy_share differ by more than 0.2. nvml_window: the windows are too short for
// NVML's utilization.
std::vector<Finding> gpu_findings(const TrialResult& trial, const Figures& figures);

// Returns at most one finding, of the kind ecc_errors: uncorrected ECC errors occurred while the trial was measured.
std::vector<Finding> ecc_findings(const TrialResult& trial, const Figures& figures);

}  // namespace chexbench::report
