// What a finding about one trial has beside its kind and its sentence.
#pragma once

#include <string>
#include <utility>

#include "results/record.hpp"

namespace chexbench::analysis {

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
