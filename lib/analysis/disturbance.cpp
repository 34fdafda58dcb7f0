#include "analysis/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chexbench::analysis {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

double disturbed_share(const results::RepeatResult& repeat) {
  const results::Disturbance& by = repeat.disturbance;
  return share(by.others_s + by.steal_s, by.core_s) + share(by.throttled_s + by.memory_stall_s, by.span_s);
}

bool is_disturbed(const results::TrialResult& trial) {
  return std::ranges::any_of(
      trial.repeats, [](const results::RepeatResult& repeat) { return disturbed_share(repeat) > kDisturbedShare; });
}

std::string disturbance_text(const results::TrialResult& trial) {
  double most = 0;
  int disturbed = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    most = std::max(most, disturbed_share(repeat));
    disturbed += disturbed_share(repeat) > kDisturbedShare ? 1 : 0;
  }
  return fmt::format("others took up to {:.0f} % of its cores in {} of {} repeats", 100 * most, disturbed,
                     trial.repeats.size());
}

}  // namespace chexbench::analysis
