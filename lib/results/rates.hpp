// Which repeats of a trial count, because other processes took little from them, its images/s over these repeats, and
// ratios between trials measured in the same rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// Returns the images/s of each repeat that counts, in their order.
std::vector<double> rates(const TrialResult& trial);

// Returns the median of rates(trial). The trial must have a repeat.
double median_rate(const TrialResult& trial);

// Of the repeats that count, returns those whose images/s give the median: the middle one, or two if their number is
// even. Shares of the time come from them alone, so that they fit the reported images/s even if another repeat took
// long. The pointers are into `trial`.
std::vector<const RepeatResult*> typical_repeats(const TrialResult& trial);

// Returns the images of the typical repeats / their time. Unlike the median, which is the mean of two rates if the
// number of repeats is even, it matches sums over the steps of these repeats exactly. The trial must have a repeat.
double typical_rate(const TrialResult& trial);

// Returns whether more than kMostBufferFed of the repeats that count, or one of those that make the median, used up
// images buffered earlier. Never for ready-made batches, which do not run out.
inline constexpr double kMostBufferFed = 0.25;
bool is_buffer_fed(const TrialResult& trial);

// Returns the images/s that the repeat would have reached on an idle machine if its cores limited it: images/s / (1 -
// cores x disturbed_share()), at most ten times images/s. The true rate lies between images_per_s and this. Pass the
// cores of a rank if other processes may have slowed down one thread that all others wait for, as in a training;
// otherwise 1.
double free_rate(const RepeatResult& repeat, int cores = 1);

// Returns the number of measured steps per repeat and rank: measure.steps, or, in a training over epochs, the number in
// the first repeat, because the data set determines it.
std::size_t measured_steps(const TrialResult& trial);

// The images/s of two trials in the rounds (repeats with the same number) in which both were measured. Rounds in which
// one of them was disturbed are left out if enough others remain.
struct SharedRounds {
  std::vector<double> a, b;            // all four are of the same length
  std::vector<double> free_a, free_b;  // the same by free_rate()
  bool disturbed = false;              // whether a disturbed round is among them
};
SharedRounds shared_rounds(const TrialResult& a, const TrialResult& b);

// Returns the ratio of a's images/s to b's with its 95 % interval (measure::paired_ratio), over their shared
// rounds. Each round runs all trials, so drift that affects both cancels out.
// Returns std::nullopt if there is no such round, or if b's median is 0. Deterministic: the seed comes from a's spec.
std::optional<measure::Ratio> paired_rates(const TrialResult& a, const TrialResult& b);

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
