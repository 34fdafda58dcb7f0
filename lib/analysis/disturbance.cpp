#include "analysis/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/starvation.hpp"
#include "results/disturbance.hpp"

namespace chexbench::analysis {

double most_disturbed_share(const results::TrialResult& trial) {
  double most = 0;
  for (const results::RepeatResult& repeat : trial.repeats) most = std::max(most, results::disturbed_share(repeat));
  return most;
}

std::string disturbance_text(const results::TrialResult& trial) {
  const auto disturbed =
      std::ranges::count_if(trial.repeats, [](const auto& repeat) { return results::is_disturbed(repeat); });
  const bool lost = std::ranges::any_of(trial.repeats, [](const auto& repeat) { return results::lost_cores(repeat); });
  return fmt::format("others took up to {:.0f} % of its cores in {} of {} repeats{}", 100 * most_disturbed_share(trial),
                     disturbed, trial.repeats.size(), lost ? ", and its CPU mask became smaller" : "");
}

std::string limit_text(const results::TrialResult& trial) {
  const double share = results::limited_share(trial);
  if (share <= results::kDisturbedShare) return "";
  return fmt::format("a CPU limit stopped its threads for {} of the time that they could have run",
                     whole_percent(share));
}

}  // namespace chexbench::analysis
