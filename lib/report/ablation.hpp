// What each of several steps from one pipeline to another is worth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "report/record.hpp"

namespace chexbench::report {

// One trial of an ablation. The ratios are of images/s, over the rounds that both trials have: empty for the first
// step, and where there are no such rounds.
struct AblationStep {
  const TrialResult* trial = nullptr;  // of those that ablations() was given
  std::string name;                    // its pipeline's; its own where two steps share that
  double images_per_s = 0;             // median over repeats
  std::optional<measure::Ratio> to_before;
  std::optional<measure::Ratio> to_first;
};

// Trials that differ in their pipeline alone.
struct Ablation {
  std::string over;  // what tells it from other ablations: "tfrecord, 2 ranks"
  bool emulated = false;
  std::vector<AblationStep> steps;  // three or more, in the order of the trials
};

// Trials without repeats are passed over. Milliseconds a step: bootstrap intervals.
std::vector<Ablation> ablations(const std::vector<const TrialResult*>& trials);
std::vector<Ablation> ablations(const Report& report);  // of all its trials

// A sentence for each of ablations(trials). Kind: ablation.
std::vector<Finding> ablation_findings(const std::vector<const TrialResult*>& trials);

}  // namespace chexbench::report
