// Grades claims: whether what was measured is enough to say that one trial is faster than another. README.md gives the
// reasons for the rule.
#pragma once

#include "measure/statistics.hpp"
#include "results/rates.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Two trials are told apart if the 95 % interval of their ratio excludes 1 and the p-value of the sign test over their
// rounds is at most this, which five rounds of five, or nine of ten, reach.
inline constexpr double kSignLevel = 0.0625;

// Grades the claim that a and b, which were measured in turn, differ in images/s, and by `ratio` (of a to b):
//   sample_too_small   fewer than five rounds
//   machine_too_busy   others took so much of the cores that it may be they who made the difference, or hid one: the
//                      rates as measured and those by results::free_rate() do not both tell the trials apart
//   told_apart         both do, or, if no round was disturbed, the rates as measured do
//   cannot_tell        they do not
results::Grade grade_of(const results::SharedRounds& rounds, const measure::Ratio& ratio);

// Returns the same for two trials whose results::paired_rates() is `ratio`, and sample_too_small also if one of them
// lived off what it had buffered.
results::Grade grade_of(const results::TrialResult& a, const results::TrialResult& b, const measure::Ratio& ratio);

}  // namespace chexbench::analysis
