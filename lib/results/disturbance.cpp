#include "results/disturbance.hpp"

#include <algorithm>

namespace chexbench::results {
namespace {

constexpr std::size_t kFewestForInterval = 5;

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double disturbed_share(const RepeatResult& repeat) {
  const Disturbance& by = repeat.disturbance;
  return share(by.others_s + by.steal_s, by.core_s) + share(by.throttled_s + by.memory_stall_s, by.span_s);
}

bool is_disturbed(const RepeatResult& repeat) { return disturbed_share(repeat) > kDisturbedShare; }

std::size_t enough_repeats(const TrialResult& trial) {
  return std::min(kFewestForInterval, static_cast<std::size_t>(trial.spec.measure.repeats));
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
