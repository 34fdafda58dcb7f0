#include "analysis/grade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/utilization.hpp"
#include "results/disturbance.hpp"

namespace chexbench::analysis {
namespace {

enum class Side { none, below, above };

// Returns on which side of 1 the ratio lies, if that is clear.
Side side_of(const measure::Ratio& ratio, const std::vector<double>& a, const std::vector<double>& b) {
  if (!ratio.ci95 || measure::sign_test(a, b) > kSignLevel) return Side::none;
  if (ratio.ci95->low > 1) return Side::above;
  return ratio.ci95->high < 1 ? Side::below : Side::none;
}

}  // namespace

results::Grade grade_of(const results::SharedRounds& rounds, const measure::Ratio& ratio) {
  if (!ratio.ci95) return results::Grade::sample_too_small;
  const Side side = side_of(ratio, rounds.a, rounds.b);
  if (!rounds.disturbed) return side == Side::none ? results::Grade::cannot_tell : results::Grade::told_apart;
  const Side on_a_free_machine =
      side_of(measure::paired_ratio(rounds.free_a, rounds.free_b), rounds.free_a, rounds.free_b);
  return side != Side::none && side == on_a_free_machine ? results::Grade::told_apart
                                                         : results::Grade::machine_too_busy;
}

results::Grade grade_of(const results::TrialResult& a, const results::TrialResult& b, const measure::Ratio& ratio) {
  if (results::is_buffer_fed(a) || results::is_buffer_fed(b)) return results::Grade::sample_too_small;
  return grade_of(results::shared_rounds(a, b), ratio);
}

double most_disturbed_share(const results::TrialResult& trial) {
  double most = 0;
  for (const results::RepeatResult& repeat : trial.repeats) most = std::max(most, results::disturbed_share(repeat));
  return most;
}

std::string disturbance_text(const results::TrialResult& trial) {
  const auto disturbed =
      std::ranges::count_if(trial.repeats, [](const auto& repeat) { return results::is_disturbed(repeat); });
  const bool lost = std::ranges::any_of(trial.repeats, [](const auto& repeat) { return results::lost_cores(repeat); });
  return fmt::format("other processes used up to {:.0f} % of its cores in {} of {} repeats{}",
                     100 * most_disturbed_share(trial), disturbed, trial.repeats.size(),
                     lost ? ", and its CPU mask became smaller" : "");
}

std::string limit_text(const results::TrialResult& trial) {
  const double share = results::limited_share(trial);
  if (share <= results::kDisturbedShare) return "";
  return fmt::format("a CPU limit stopped its threads for {} of the time that they could have run",
                     whole_percent(share));
}

}  // namespace chexbench::analysis
