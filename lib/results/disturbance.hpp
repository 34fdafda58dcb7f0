// How much other processes took from a trial while it was measured, and which repeats count therefore.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// A repeat is disturbed if other processes used more than this share of its runnable time.
inline constexpr double kDisturbedShare = 0.10;

// Returns the share of the ranks' runnable time in the repeat that other processes took (at most the share spent
// waiting for a core), plus the share of the cores that a hypervisor or a smaller CPU mask took, plus the share of the
// time that memory reclaim stalled the ranks: at most 1. 0 if it was not measured. A CPU limit is not a disturbance,
// because it affects all repeats alike.
double disturbed_share(const RepeatResult& repeat);

// Returns the share of the ranks' runnable time for which a CPU limit of their cgroup (a container's, or a batch
// system's) stopped them, at most 1. 0 if it was not measured.
double limited_share(const RepeatResult& repeat);

// Returns the median of limited_share() over the repeats that count.
double limited_share(const TrialResult& trial);

// Returns whether disturbed_share() is above kDisturbedShare, or cores were lost, because figures refer to all cores
// that the run started with.
bool is_disturbed(const RepeatResult& repeat);

// Returns whether a rank had lost some of its cores by the end of the repeat, because its CPU mask was changed
// (taskset, an orchestrator's cpuset) while it ran.
bool lost_cores(const RepeatResult& repeat);

// Returns how many undisturbed repeats suffice to leave out the disturbed ones: five, because fewer give no interval,
// or measure.repeats if that is less.
std::size_t enough_repeats(const TrialResult& trial);

// Returns the repeats that figures come from: the undisturbed ones if they suffice, else all of them. The pointers are
// into `trial`, in its order.
std::vector<const RepeatResult*> counted_repeats(const TrialResult& trial);

// Returns whether the figures come from a disturbed repeat.
bool is_disturbed(const TrialResult& trial);

}  // namespace chexbench::results
