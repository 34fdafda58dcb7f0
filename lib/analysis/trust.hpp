// How far results can be trusted: grades of the claim that one trial is faster than another (lib/analysis/README.md has
// the reasons for the rule), disturbance by other processes in words, and flags that warn readers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "results/figures.hpp"
#include "results/rates.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Two trials are told apart if the 95 % interval of their ratio excludes 1 and the p-value of the sign test over their
// rounds is at most this, as with five rounds of five, or nine of ten.
inline constexpr double kSignLevel = 0.0625;

// Grades the claim that a and b, measured in the same rounds, differ in images/s by `ratio` (of a to b):
//   sample_too_small   fewer than five rounds
//   machine_too_busy   interference may have caused or masked the difference: the
//                      rates as measured and those by results::free_rate() do not both tell the trials apart
//   told_apart         both do, or, if no round was disturbed, the rates as measured do
//   cannot_tell        they do not
results::Grade grade_of(const results::SharedRounds& rounds, const measure::Ratio& ratio);

// Returns the same for two trials whose results::paired_rates() is `ratio`; also sample_too_small if one of them
// drained buffers filled earlier.
results::Grade grade_of(const results::TrialResult& a, const results::TrialResult& b, const measure::Ratio& ratio);

// Returns "other processes used up to 34 % of its cores in 2 of 6 repeats" for a disturbed trial, and whether its
// CPU mask shrank.
std::string disturbance_text(const results::TrialResult& trial);

// Returns "a CPU limit stopped its threads for 34 % of the time that they could have run" if that is more than a tenth,
// more than bursts cause; else "".
std::string limit_text(const results::TrialResult& trial);

// Returns the largest share of its cores that other processes took from a trial in one of its repeats.
double most_disturbed_share(const results::TrialResult& trial);

// A flag, which stands next to a trial's figures: its word, its meaning for the notes below a table, and which trials
// get it.
struct Flag {
  const char* word;
  const char* meaning;
  std::function<bool(const results::TrialResult&, const results::Figures&)> applies;
};

// Returns all flags, "(emulated)" first. The list is immutable and valid until the program ends.
const std::vector<Flag>& flags();

// Returns the words that apply to a trial, in the order of flags().
std::vector<std::string> flags_of(const results::TrialResult& trial, const results::Figures& figures);

}  // namespace chexbench::analysis
