// Decides on which CPUs a second job runs.
#pragma once

#include <string>
#include <vector>

#include "bench/core_layout.hpp"

namespace chexbench::bench {

// Returns the CPUs for the second job of a trial of `ranks` ranks on the host of rank `rank`. `existing` are the CPUs
// that this process may be bound to. A pure function.
// @throws SpecError if the spec asks for other CPUs, or for separate cores while the ranks use all
std::vector<int> second_job_cores(const std::vector<RankCores>& rank_cores, std::size_t rank,
                                  const spec::TrialSpec& spec, int ranks, const std::vector<int>& existing);

}  // namespace chexbench::bench
