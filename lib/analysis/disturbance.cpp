#include "analysis/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "results/disturbance.hpp"

namespace chexbench::analysis {

std::string disturbance_text(const results::TrialResult& trial) {
  double most = 0;
  int disturbed = 0;
  for (const results::RepeatResult& repeat : trial.repeats) {
    most = std::max(most, results::disturbed_share(repeat));
    disturbed += results::is_disturbed(repeat) ? 1 : 0;
  }
  return fmt::format("others took up to {:.0f} % of its cores in {} of {} repeats", 100 * most, disturbed,
                     trial.repeats.size());
}

}  // namespace chexbench::analysis
