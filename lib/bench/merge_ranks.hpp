// Combines the results of all ranks into the result of a repeat.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::bench {

// Returns the repeat as all ranks saw it, from each rank's own: the wall time of the slowest, sums of counts, the
// largest of memory, every step, and each GPU's samples. `rank_results` must not be empty; `images_per_step` are those
// of one rank.
results::RepeatResult merge_ranks(const std::vector<results::RepeatResult>& rank_results, int images_per_step);

}  // namespace chexbench::bench
