// The answer of a run: the first thing that its reader wants to know.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "measure/statistics.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

inline constexpr std::size_t kMostAnswerLines = 5;

// The answer, as lines of text and as their parts. Unmeasured parts are empty.
struct Answer {
  std::vector<std::string> lines;       // one to kMostAnswerLines, each one sentence or more
  bool emulated = false;                // depends on an emulated engine; each line that does is marked
  std::string trial;                    // the arm that the answer is about; empty if there are several, or none
  std::string base;                     // the arm that it is compared with; may be empty
  std::optional<measure::Ratio> ratio;  // images/s of trial / images/s of base; without interval for few repeats
  results::Grade grade = results::Grade::told_apart;  // of the claim that the ratio is not 1
  std::optional<double> images_per_s;                 // of `trial`, with its interval
  std::optional<measure::Interval> images_per_s_ci95;
  std::string waiting;               // the trial with this wait_share: `base` if it waits for its input, else `trial`
  std::optional<double> wait_share;  // of its time
  std::string wait_cause;  // "the one core of a rank is full (97 % busy)"; empty unless it waits for its input
  std::string advice;      // what to do, in one sentence
  std::string command;     // that does it; may be empty
};

// Derives the answer from the trials of a report and from how it was run. Deterministic. Disturbance by other
// processes, or too small a sample, makes no sentence false: the answer then states that it cannot tell.
//
// It compares arms with the most ranks: the fastest that differs from the first of them in its pipeline alone, or if
// none does in its format, its storage, or other settings. For a run of one arm it describes how far that scales, if
// its ranks were swept, and how well it learned, if it trained over epochs.
Answer derive_answer(const Evaluation& evaluation);

// Returns the findings by cost (Finding::worth_share), those with advice before those without. The pointers are into
// the argument.
std::vector<const results::Finding*> by_worth(const std::vector<results::Finding>& findings);

}  // namespace chexbench::analysis
