// Sentences on the op list of a trial and on its data: what a reader of the pipeline would object to, with its price.
#pragma once

#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// Of a measured trial. Kinds: shuffle_decoded, prefetch_batches, few_parallel_calls, batch_remainder, small_shards.
std::vector<Finding> input_findings(const TrialResult& trial, const Figures& figures);

// Of all measured trials together. Kinds: page_cache, shared_patients.
std::vector<Finding> data_findings(const std::vector<const TrialResult*>& trials);

}  // namespace chexbench::report
