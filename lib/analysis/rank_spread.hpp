// How alike the ranks of a trial are: averaging makes all of them wait for the slowest.
#pragma once

#include <map>
#include <optional>

#include "results/record.hpp"

namespace chexbench::analysis {

// Seconds of one repeat's measured steps that each rank spent by itself: without the exposed communication, in which it
// waits for others.
std::map<int, double> own_times_s(const results::RepeatResult& repeat);

struct RankSpread {
  double spread = 0;  // (slowest - fastest) / fastest, of own times summed over all repeats
  int slowest = 0;    // a rank
};

// Empty for fewer than two ranks, or steps without a duration.
std::optional<RankSpread> rank_spread(const results::TrialResult& trial);

}  // namespace chexbench::analysis
