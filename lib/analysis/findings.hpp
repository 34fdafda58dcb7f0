// Derives the findings of a report: sentences that explain its numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/record.hpp"

namespace chexbench::analysis {

// Returns the findings about the given trials. Most of them cover only the trial with the most ranks of each arm; those
// about ECC errors and about learning cover every measured trial.
//
// Training is compared with the same training over ready-made batches as its ceiling, never as another format.
//
// The kinds are storage_ratio, amplification, pipeline_ratio, format_ratio, scaling and ceiling, those of
// input_findings.hpp, ablation.hpp, economics.hpp and learning.hpp, one verdict (verdict.hpp) per trial: slow_rank,
// cpu_starved, starved, communication, upload or fed, and by NVML:
//   throttled     power or heat throttled the clocks in more than 5 % of the samples
//   nvml_differs  NVML's utilization and busy_share differ by more than 0.2
//   partly_busy   kernels keep NVML's utilization high, but few multiprocessors busy
//   nvml_window   the windows are too short (less than 3 s) for NVML's utilization
//   ecc_errors    uncorrected ECC errors occurred while the trial was measured
//
// The result is deterministic: the same trials give the same sentences. A sentence that depends on an emulated engine
// is marked, and `emulated` is set.
std::vector<results::Finding> derive_findings(const std::vector<results::TrialResult>& trials);

// The parts of a finding about one trial besides its kind and its sentence.
struct FindingParts {
  std::string headline, reason, advice, command;
  double worth_share = 0;
};

// Returns the finding, marked if the trial is emulated.
inline results::Finding finding_about(const results::TrialResult& trial, const char* kind, std::string text,
                                      FindingParts parts, results::Grade grade = results::Grade::told_apart) {
  return {.kind = kind,
          .text = std::move(text),
          .emulated = trial.emulated,
          .grade = grade,
          .trial = trial.name,
          .headline = std::move(parts.headline),
          .reason = std::move(parts.reason),
          .advice = std::move(parts.advice),
          .command = std::move(parts.command),
          .worth_share = parts.worth_share};
}

}  // namespace chexbench::analysis
