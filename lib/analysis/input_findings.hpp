// Derives findings about the op list of a trial and about its data: objections of an experienced reader, and their
// cost.
#pragma once

#include <vector>

#include "results/figures.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// Returns the findings about the op list of a measured trial. Their kinds are shuffle_decoded, prefetch_batches,
// few_parallel_calls, batch_remainder and small_shards; see apps/chexbench/reference/README.md for the limits. A trial
// without a pipeline has none. `figures` must be those of the trial.
std::vector<results::Finding> input_findings(const results::TrialResult& trial, const results::Figures& figures);

// Returns the findings about the data of all measured trials together. Their kinds are page_cache, other_images and
// shared_patients.
std::vector<results::Finding> data_findings(const std::vector<const results::TrialResult*>& trials);

// Derives the finding that this machine's CPU has unused instruction sets for training.
// Returns at most one finding, of the kind unused_instructions: a trial trained on the CPU, and the machine of rank 0
// has instruction sets for its precision that were hidden, ruled out or not compiled in. AVX512_BF16 and AMX apply to
// bf16 only.
std::vector<results::Finding> cpu_findings(const results::Report& report);

}  // namespace chexbench::analysis
