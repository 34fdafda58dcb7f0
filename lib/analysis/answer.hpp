// The answer of a run: what its reader wants to know first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/evaluation.hpp"
#include "measure/statistics.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr std::size_t kMostAnswerLines = 5;

// The answer, as lines to be read and as the pieces that they are made of. What was not measured is empty.
struct Answer {
  std::vector<std::string> lines;       // one to kMostAnswerLines, each one sentence or more
  bool emulated = false;                // depends on an emulated engine; each line that does says so, too
  std::string trial;                    // the arm that the answer is about; empty if it is about several, or about none
  std::string base;                     // what it is compared with; may be empty
  std::optional<measure::Ratio> ratio;  // images/s of trial / images/s of base; without interval for few repeats
  results::Grade grade = results::Grade::told_apart;  // of the claim that the ratio is not 1
  std::optional<double> images_per_s;                 // of `trial`, with its interval
  std::optional<measure::Interval> images_per_s_ci95;
  std::string waiting;               // the trial that wait_share is of: `base` if it waits for its input, else `trial`
  std::optional<double> wait_share;  // of its time
  std::string wait_cause;  // "the one core of a rank is full (97 % busy)"; empty unless it waits for its input
  std::string advice;      // one sentence that says what to do
  std::string command;     // that does it; may be empty
};

// Derives the answer from the trials of a report and from how it was run. Deterministic. What other processes took from
// the machine, or too small a sample, makes no sentence of it false: it then says that it cannot tell.
//
// It compares arms of the most ranks: the fastest that differs from the first of them in its pipeline alone, or if none
// does in its format, its storage, or other settings. A run of one arm is told for itself: how far it scales, if its
// ranks were swept, and how well it learned, if it trained over epochs.
Answer derive_answer(const Evaluation& evaluation);

// Returns the findings by what they cost (Finding::worth_share), those that say what to do before those that do not.
// The pointers are into the argument.
std::vector<const results::Finding*> by_worth(const std::vector<results::Finding>& findings);

}  // namespace chexbench::analysis
