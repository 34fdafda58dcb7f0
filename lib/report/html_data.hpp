// Makes the block of JSON from which the scripts of report.html make its tables and charts.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/evaluation.hpp"

namespace chexbench::report {

// A curve of a repeat has at most this many points in the page. report.json has all values.
inline constexpr std::size_t kMostPoints = 300;

// Returns one JSON object. Environment, findings, ablations and figures are as in report.json, except that the findings
// that cost most come first. The answer is added; its command reads the results in ".", the page's folder. Each trial
// also has its label, the index of the first trial of its arm, flags, resolved spec, times by rank, counters by op,
// scores by label with their curves, and the curves of its repeats.
std::string page_data(const analysis::Evaluation& evaluation);

}  // namespace chexbench::report
