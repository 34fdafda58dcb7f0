// Words for what others and a CPU limit took from a trial while it was measured (results/disturbance.hpp).
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::analysis {

// Returns "others took up to 34 % of its cores in 2 of 6 repeats" of a disturbed trial, and whether its
// CPU mask became smaller.
std::string disturbance_text(const results::TrialResult& trial);

// Returns "a CPU limit stopped its threads for 34 % of the time that they could have run" if that is more than a tenth,
// which a few percent of bursts stay below; else "".
std::string limit_text(const results::TrialResult& trial);

// Returns the largest share of its cores that others took from a trial in one of its repeats.
double most_disturbed_share(const results::TrialResult& trial);

}  // namespace chexbench::analysis
