#include "report/pairs.hpp"

#include <algorithm>
#include <vector>

namespace chexbench::report {

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

}  // namespace chexbench::report
