// Derives findings from NVML's figures for a trial.
#pragma once

#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Returns at most one finding of each of these kinds:
//   throttled     power or heat held the clocks down in more than 5 % of the samples
//   nvml_differs  NVML's utilization and busy_share differ by more than 0.2
//   nvml_window   the windows are too short (less than 3 s) for NVML's utilization
// A trial without GPU samples has none.
std::vector<results::Finding> gpu_findings(const results::TrialResult& trial, const results::Figures& figures);

// Returns at most one finding, of the kind ecc_errors: uncorrected ECC errors occurred while the trial was measured.
std::vector<results::Finding> ecc_findings(const results::TrialResult& trial, const results::Figures& figures);

}  // namespace chexbench::analysis
