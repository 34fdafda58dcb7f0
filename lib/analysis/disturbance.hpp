// What others took from a trial while it was measured.
#pragma once

#include <string>

#include "results/record.hpp"

namespace chexbench::analysis {

// A repeat is disturbed if others took more than this share of its ranks' cores or time.
inline constexpr double kDisturbedShare = 0.10;

// Returns the share of the ranks' cores that other processes and a hypervisor took in the repeat, plus the share of the
// time for which a CPU limit or the reclaim of memory held the ranks up. 0 if it was not measured.
double disturbed_share(const results::RepeatResult& repeat);

// Returns whether one of the repeats was disturbed.
bool is_disturbed(const results::TrialResult& trial);

// Returns "others took up to 34 % of its cores in 2 of 6 repeats" of a disturbed trial.
std::string disturbance_text(const results::TrialResult& trial);

}  // namespace chexbench::analysis
