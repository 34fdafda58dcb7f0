// Finds ablations among the trials of a report and compares their rates: how many images/s does each successive change
// of a pipeline gain?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// One trial of an ablation. The ratios compare images/s over the rounds in which both trials were measured. They are
// empty for the first step, and if the two trials share no round.
struct AblationStep {
  const results::TrialResult* trial = nullptr;  // points into the argument of ablations()
  std::string name;                             // the pipeline's name; the trial's if two steps share it
  double images_per_s = 0;                      // median over repeats
  std::optional<measure::Ratio> to_before;
  results::Grade grade = results::Grade::told_apart;  // of the claim that to_before is not 1
  std::optional<measure::Ratio> to_first;
};

// A group of trials that differ only in their pipeline.
struct Ablation {
  std::string over;  // distinguishes it from other ablations: "tfrecord, 2 ranks"
  bool emulated = false;
  std::vector<AblationStep> steps;  // three or more, in the order of the trials
};

// Groups the trials into ablations and compares their rates. Skips trials without repeats and groups of fewer than
// three trials. The result points to the given trials, which must outlive it. Takes milliseconds per step, because each
// interval is bootstrapped.
std::vector<Ablation> ablations(const std::vector<const results::TrialResult*>& trials);
// Does the same for all trials of the report, which must outlive the result.
std::vector<Ablation> ablations(const results::Report& report);

// Returns one sentence for each of ablations(trials), of the kind "ablation".
std::vector<results::Finding> ablation_findings(const std::vector<const results::TrialResult*>& trials);

}  // namespace chexbench::analysis
