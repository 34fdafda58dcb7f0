#include "results/disturbance.hpp"

#include <algorithm>

#include "spec/interval.hpp"

namespace chexbench::results {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Returns the share of what the ranks' threads could have run for which they had no core.
double share_of_waits(const Disturbance& by) { return share(by.own_wait_s, by.own_wait_s + by.own_cpu_s); }

// Returns the share of what the ranks' threads could have run that other processes took. Others that run on cores that
// the ranks leave idle take nothing, threads of a rank that wait for each other's cores lose nothing to others, and
// ranks that hardly run are not held up for longer than their threads waited, so the smallest of the shares counts.
double share_of_others(const Disturbance& by) {
  return std::min(
      {share_of_waits(by), share(by.others_s, by.others_s + by.own_cpu_s), share(by.own_wait_s, by.span_s)});
}

// Returns the share of what the ranks' threads could have run that a CPU limit took. The kernel adds up how long it
// stopped each core, and each rank counts all cores of its cgroup, also those of other ranks; but a thread that is
// stopped waits for a core, so the limit took no more than the share of the waits.
double share_of_limit(const Disturbance& by) {
  return std::min(share_of_waits(by), share(by.throttled_s, by.throttled_s + by.own_cpu_s));
}

}  // namespace

double disturbed_share(const RepeatResult& repeat) {
  const Disturbance& by = repeat.disturbance;
  return share_of_others(by) + share(by.steal_s, by.core_s) + share_of_limit(by) + share(by.memory_stall_s, by.span_s);
}

bool is_disturbed(const RepeatResult& repeat) { return disturbed_share(repeat) > kDisturbedShare; }

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
