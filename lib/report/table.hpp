// Formats the result for people who read it in a terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/derive.hpp"
#include "report/text_table.hpp"

namespace chexbench::report {

inline constexpr std::size_t kToldFindings = 5;
inline constexpr std::size_t kBriefLines = 12;

// How much to print, and for which output. By default the whole text, of any width, without colours.
struct TableOptions {
  LineWidth width = {};
  bool brief = false;                                   // the answer, five columns, and one command
  bool colour = false;                                  // emphasis by ANSI escape sequences
  std::optional<std::size_t> findings = kToldFindings;  // at most this many; empty: all
  bool whole_findings = false;                          // even if a brief text exceeds kBriefLines with them
  std::string folder = {};                              // of the run, for suggested commands; may be empty
};

// Returns, if it is to be brief, the first line of the answer, five figures of each trial, the headlines of the
// costliest findings that fit into kBriefLines, but at least two, and one command; otherwise the whole answer
// (analysis/answer.hpp), the trials with the figures that matter in this run, the meanings of their flags, ablations,
// results of training, a breakdown of the time, and the costliest findings, with how to see all of them. Emulated
// trials are marked in their rows, and, unless it is brief, the source of their speed is named below the table. The
// text is ASCII if the report is, and names in it cannot affect a terminal.
std::string result_table(const analysis::Evaluation& evaluation, const TableOptions& options = {});

}  // namespace chexbench::report
