// Queries of tests about the verdict of a trial.
#pragma once

#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "analysis/verdict.hpp"
#include "results/labels.hpp"

namespace chexbench::analysis {

inline std::string limit_of(const results::TrialResult& trial) {
  return results::to_string(derive_figures(trial, {trial}).limit);
}

inline std::vector<results::Finding> verdicts_of(const results::TrialResult& trial) {
  return verdicts(trial, derive_figures(trial, {trial}));
}

inline std::vector<std::string> kinds_of(const results::TrialResult& trial) {
  std::vector<std::string> kinds;
  for (const results::Finding& finding : verdicts_of(trial)) kinds.push_back(finding.kind);
  return kinds;
}

}  // namespace chexbench::analysis
