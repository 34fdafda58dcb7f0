// Makes the tables of a result and the lines around them as cells of text, without a layout. table.hpp formats them for
// a terminal, and markdown.hpp for a wiki.
#pragma once

#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "report/text_table.hpp"

namespace chexbench::report {

// An ablation (analysis/ablation.hpp), with one row per step.
struct AblationTable {
  std::string over;
  TextTable steps;
};

// All tables. Numbers are rounded and carry their units. Every row of an emulated trial is marked, except in
// `learning`, because emulated engines do not learn.
struct ResultTables {
  std::vector<std::string> title;  // lines: experiment, place and time, and the settings that all trials share
  TextTable summary;               // one row per trial with the five figures that matter most
  TextTable figures;               // one row per trial
  std::vector<AblationTable> ablations;
  TextTable learning;  // one row per trial that trained over epochs; no rows if none did
  TextTable two_jobs;  // one row per trial with a second job; no rows if there was none
  TextTable times;     // breakdown of the time, one row per trial
  std::vector<std::string>
      notes;  // lines: meanings of flags, sources of the speed of emulated engines, notes of engines
};

// Captions, which the terminal and Markdown share.
inline constexpr const char* kAblationCaption =
    "each step against the one before it and against the first (95 % intervals)";
inline constexpr const char* kLearningCaption =
    "What was learned, on validation images (AUROC: mean over findings, at the best epoch; of repeats: worst and "
    "best):";
inline constexpr const char* kTwoJobsCaption =
    "Two jobs on one host: what each keeps while the other runs (95 % intervals):";
inline constexpr const char* kTimesCaption =
    "Where the time went (share of the step; communication not overlapped with backward):";

// Returns the tables of a report.
ResultTables result_tables(const analysis::Evaluation& evaluation);

}  // namespace chexbench::report
