// Combines the results of all ranks into the result of a repeat.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::bench {

// Returns the result of a repeat over all ranks, from the result of each rank: the wall time of the slowest rank, the
// sums of counts, the largest memory, the steps and waits of every rank, and the samples of every GPU. Fields that are
// neither summed nor compared are those of the first element, rank 0. Derives images_per_s and buffer_fed.
// `rank_results` must not be empty; `images_per_step` counts the images of one rank.
results::RepeatResult merge_ranks(const std::vector<results::RepeatResult>& rank_results, int images_per_step);

}  // namespace chexbench::bench
