// How alike the ranks of a trial are: averaging makes all of them wait for the slowest.
#pragma once

#include <optional>

#include "report/record.hpp"

namespace chexbench::report {

// A rank's own time is that of its measured steps without the exposed communication, in which it waits for others.
struct RankSpread {
  double spread = 0;  // (slowest - fastest) / fastest, of own times summed over all repeats
  int slowest = 0;    // a rank
};

// Empty for fewer than two ranks, or steps without a duration.
std::optional<RankSpread> rank_spread(const TrialResult& trial);

}  // namespace chexbench::report
