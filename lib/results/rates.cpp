#include "results/rates.hpp"

#include <algorithm>

namespace chexbench::results {

std::vector<double> rates(const TrialResult& trial) {
  std::vector<double> values;
  for (const RepeatResult& repeat : trial.repeats) values.push_back(repeat.images_per_s);
  return values;
}

double median_rate(const TrialResult& trial) { return measure::median(rates(trial)); }

std::size_t measured_steps(const TrialResult& trial) {
  if (trial.spec.training.epochs == 0 || trial.repeats.empty())
    return static_cast<std::size_t>(trial.spec.measure.steps);
  return trial.repeats.front().steps.size() / static_cast<std::size_t>(trial.ranks);
}

std::optional<measure::Ratio> paired_rates(const TrialResult& a, const TrialResult& b) {
  std::vector<double> above;
  std::vector<double> below;
  for (const RepeatResult& repeat : a.repeats) {
    const auto same_round = std::ranges::find(b.repeats, repeat.repeat, &RepeatResult::repeat);
    if (same_round == b.repeats.end()) continue;
    above.push_back(repeat.images_per_s);
    below.push_back(same_round->images_per_s);
  }
  if (above.empty() || measure::median(below) <= 0) return std::nullopt;
  return measure::paired_ratio(above, below, a.spec.measure.seed);
}

}  // namespace chexbench::results
