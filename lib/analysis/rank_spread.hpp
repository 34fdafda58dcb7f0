// Compares the ranks of a trial with each other. It matters because averaging gradients makes all of them wait for the
// slowest.
#pragma once

#include <map>
#include <optional>

#include "results/record.hpp"

namespace chexbench::analysis {

// Returns by rank the seconds of one repeat's measured steps without the exposed communication, in which a rank waits
// for others.
std::map<int, double> own_times_s(const results::RepeatResult& repeat);

// How far the ranks of a trial are apart.
struct RankSpread {
  double spread = 0;  // (slowest - fastest) / fastest, of own_times_s() summed over the repeats that count
  int slowest = 0;    // number of the slowest rank
};

// Returns std::nullopt for fewer than two ranks, or if steps have no duration.
std::optional<RankSpread> rank_spread(const results::TrialResult& trial);

}  // namespace chexbench::analysis
