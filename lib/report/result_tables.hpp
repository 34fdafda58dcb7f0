// The tables of a result and the lines around them, not yet laid out: for the terminal (table.hpp) and for a wiki
// (markdown.hpp).
#pragma once

#include <string>
#include <vector>

#include "report/text_table.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// An ablation (ablation.hpp), a row each step.
struct AblationTable {
  std::string over;
  TextTable steps;
};

// Numbers are rounded and carry their units. Emulated trials are marked in their row of all tables.
struct ResultTables {
  std::vector<std::string> title;  // lines: what ran where and when, what all trials share
  TextTable figures;               // a row each trial
  std::vector<AblationTable> ablations;
  TextTable learning;              // a row each trial over epochs
  TextTable times;                 // where the time went, a row each trial
  std::vector<std::string> notes;  // lines: what the flags mean, where the speed of emulated engines comes from
};

inline constexpr const char* kAblationCaption =
    "each step against the one before it and against the first (95 % intervals)";
inline constexpr const char* kLearningCaption =
    "What was learned, by images that do not train (AUROC: mean over findings, at the best epoch):";
inline constexpr const char* kTimesCaption =
    "Where the time went (share of the step; communication as far as backward did not hide it):";

// Milliseconds a trial, as derive_figures().
ResultTables result_tables(const results::Report& report);

}  // namespace chexbench::report
