// Sentences on the op list of a trial and on its data: what a reader of the pipeline would object to, with its price.
#pragma once

#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Of a measured trial. Kinds: shuffle_decoded, prefetch_batches, few_parallel_calls, batch_remainder, small_shards.
std::vector<results::Finding> input_findings(const results::TrialResult& trial, const results::Figures& figures);

// Of all measured trials together. Kinds: page_cache, shared_patients.
std::vector<results::Finding> data_findings(const std::vector<const results::TrialResult*>& trials);

}  // namespace chexbench::analysis
