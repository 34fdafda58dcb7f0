#include "results/disturbance.hpp"

#include <algorithm>

#include "measure/statistics.hpp"
#include "spec/interval.hpp"

namespace chexbench::results {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Returns the share of the ranks' runnable time that they spent waiting for a core, `wait_s` in all.
double share_of_waits(double wait_s, const Disturbance& by) { return share(wait_s, wait_s + by.own_cpu_s); }

// Returns the share of the ranks' runnable time that other processes took. Others on cores that the ranks leave idle
// take nothing, threads of a rank that wait for each other's cores or for a CPU limit lose nothing to others, and ranks
// that hardly run lose no more than the time that their threads waited, so the smallest of the shares counts. Each rank
// counts the cgroup's whole throttled time, so the mean over ranks is subtracted.
double share_of_others(const Disturbance& by, int ranks) {
  const double wait_s = std::max(0.0, by.own_wait_s - by.throttled_s / ranks);
  return std::min(
      {share_of_waits(wait_s, by), share(by.others_s, by.others_s + by.own_cpu_s), share(wait_s, by.span_s)});
}

}  // namespace

double disturbed_share(const RepeatResult& repeat) {
  const Disturbance& by = repeat.disturbance;
  const int ranks = repeat.steps.empty() ? 1 : repeat.steps.back().rank + 1;
  return std::min(1.0, share_of_others(by, ranks) + share(by.steal_s + by.lost_core_s, by.core_s) +
                           share(by.memory_stall_s, by.span_s));
}

// The kernel adds up how long it stopped each core, and each rank counts all cores of its cgroup, including those of
// other ranks; but a stopped thread waits for a core, so the limit took at most the share of the waits.
double limited_share(const RepeatResult& repeat) {
  const Disturbance& by = repeat.disturbance;
  return std::min(share_of_waits(by.own_wait_s, by), share(by.throttled_s, by.throttled_s + by.own_cpu_s));
}

double limited_share(const TrialResult& trial) {
  std::vector<double> shares;
  for (const RepeatResult* repeat : counted_repeats(trial)) shares.push_back(limited_share(*repeat));
  return shares.empty() ? 0 : measure::median(shares);
}

bool is_disturbed(const RepeatResult& repeat) {
  return disturbed_share(repeat) > kDisturbedShare || lost_cores(repeat);
}

bool lost_cores(const RepeatResult& repeat) { return repeat.disturbance.lost_core_s > 0; }

std::size_t enough_repeats(const TrialResult& trial) {
  return static_cast<std::size_t>(std::min(spec::kRepeatsForInterval, trial.spec.measure.repeats));
}

std::vector<const RepeatResult*> counted_repeats(const TrialResult& trial) {
  std::vector<const RepeatResult*> all, undisturbed;
  for (const RepeatResult& repeat : trial.repeats) {
    all.push_back(&repeat);
    if (!is_disturbed(repeat)) undisturbed.push_back(&repeat);
  }
  return undisturbed.size() >= enough_repeats(trial) ? undisturbed : all;
}

bool is_disturbed(const TrialResult& trial) {
  return std::ranges::any_of(counted_repeats(trial), [](const RepeatResult* repeat) { return is_disturbed(*repeat); });
}

}  // namespace chexbench::results
