// What other processes took from a trial while it was measured, and which repeats count therefore.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// A repeat is disturbed if other processes used more than this share of what it could have run.
inline constexpr double kDisturbedShare = 0.10;

// Returns the share of the time that the ranks' threads could have run in the repeat that other processes took, at most
// the share of the time for which they waited for a core, plus the share of the cores that a hypervisor or a smaller
// CPU mask took, and that of the time for which the reclaim of memory held the ranks up: at most 1. 0 if it was not
// measured. A CPU limit is no disturbance: it holds in each repeat alike.
double disturbed_share(const RepeatResult& repeat);

// Returns the share of the time that the ranks' threads could have run for which a CPU limit of their cgroup (a
// container's, or a batch system's) stopped them, at most 1. 0 if it was not measured.
double limited_share(const RepeatResult& repeat);

// Returns the median of limited_share() over the repeats that count.
double limited_share(const TrialResult& trial);

// Returns whether disturbed_share() is above kDisturbedShare, or cores were lost: figures are told of all cores that
// the run started with.
bool is_disturbed(const RepeatResult& repeat);

// Returns whether a rank might no longer run on some of its cores at the end of the repeat, because somebody changed
// its CPU mask (taskset, an orchestrator's cpuset) while it ran.
bool lost_cores(const RepeatResult& repeat);

// Returns how many undisturbed repeats are enough to leave the disturbed ones out: five, because fewer give no
// interval, or measure.repeats if that is fewer.
std::size_t enough_repeats(const TrialResult& trial);

// Returns the repeats that figures come from: those that were not disturbed if they are enough, else all of them. The
// pointers are into `trial`, in its order.
std::vector<const RepeatResult*> counted_repeats(const TrialResult& trial);

// Returns whether figures come from a disturbed repeat.
bool is_disturbed(const TrialResult& trial);

}  // namespace chexbench::results
