// Derives the finding that this machine's CPU could train faster than it is allowed to.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::analysis {

// Returns at most one finding, of the kind unused_instructions: a trial trained on the CPU, and the machine of rank 0
// has instruction sets for its precision that were hidden, ruled out or not compiled in. AVX512_BF16 and AMX are for
// bf16 alone.
std::vector<results::Finding> cpu_findings(const results::Report& report);

}  // namespace chexbench::analysis
