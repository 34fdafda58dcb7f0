#include "analysis/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  return fmt::format("others took up to {:.0f} % of its cores in {} of {} repeats", 100 * most_disturbed_share(trial),
                     disturbed, trial.repeats.size());
}

}  // namespace chexbench::analysis
