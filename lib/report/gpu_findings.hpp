// What NVML's figures say, in sentences.
#pragma once

#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// "throttled": power or heat held the clocks down in more than 5 % of the samples. "nvml_differs": NVML's utilization
// and busy_share are more than 0.2 apart. "nvml_window": the windows are too short for NVML's utilization.
std::vector<Finding> gpu_findings(const TrialResult& trial, const Figures& figures);

// "ecc_errors": uncorrected ECC errors came up while the trial was measured. At most one.
std::vector<Finding> ecc_findings(const TrialResult& trial, const Figures& figures);

}  // namespace chexbench::report
