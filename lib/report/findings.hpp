// What the numbers say, in sentences.
#pragma once

#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// Of each arm only the trial with the most ranks is spoken of, but of ECC errors in any. Kinds: storage_ratio,
// amplification, pipeline_ratio, format_ratio, scaling, ceiling, those of input_findings.hpp, ablation.hpp,
// economics.hpp and gpu_findings.hpp, and one verdict (verdict.hpp): slow_rank, cpu_starved, starved, communication,
// upload or fed. Deterministic: same trials, same sentences. A sentence that rests on an emulated engine says so and
// has `emulated` set.
std::vector<Finding> derive_findings(const std::vector<TrialResult>& trials);

}  // namespace chexbench::report
