// The sentences that answer.hpp puts together, and its choice of subjects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// A pair and the setting in which its trials differ.
struct Choice {
  Pair pair;
  const Aspect* aspect = nullptr;
};

// Advice, and the command that follows it. Both may be empty.
struct Advice {
  std::string advice;  // a clause
  std::string command;
};

// An arm's name in a sentence, and its differences from other arms of the run, which may be empty.
struct Subject {
  std::string name;
  std::string context;
};

// Returns the arms that an answer compares: none over ready-made batches if others have a pipeline, and none without
// training if others train.
Trials competitors(const Trials& arms);

// Returns the pair that matters most: arms that differ in their pipeline alone, or else in their format, their storage
// or other settings; and of these the fastest that differs from the first. Points into the arguments.
std::optional<Choice> choose_pair(const Trials& chosen, const Trials& all);

// Returns "png, 2 ranks": the settings besides `aspect` in which the trial differs from others of the run.
std::string circumstances(const std::vector<results::TrialResult>& trials, const results::TrialResult& trial,
                          const Aspect& aspect);

// Returns "optimized (png, 2 ranks) keeps 2 V100s (emulated) fed: 748 images/s, 1.70 x naive (95 % interval 1.60 to
// 1.80)." or why the two cannot be told apart.
std::string pair_sentence(const Pair& pair, const Subject& subject, const std::string& base);

// Returns the same for one arm, with the interval of its images/s.
std::string arm_sentence(const Measured& arm, const Subject& subject);

// Returns what limits the arm, or "" if unknown. Leaves out that it is fed if `fed_is_said`.
std::string limit_sentence(const Measured& arm, const std::string& name, bool fed_is_said);

// Returns how far the arm scales, or "" if that was not measured.
std::string scaling_sentence(const Measured& arm, const std::string& name);

// Returns whether the arm computes and hardly ever waits for its input.
bool is_fed(const Measured& arm);

// Returns whether the arm waits for its input for a known reason.
bool waits(const Measured& arm);

// Returns the cost of the arm's limit (Finding::worth_share).
double limit_cost(const Measured& arm);

// Returns advice about the limit.
Advice limit_advice(const Measured& arm);

}  // namespace chexbench::analysis
