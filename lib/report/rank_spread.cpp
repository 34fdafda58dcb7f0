#include "report/rank_spread.hpp"

#include <algorithm>
#include <map>

namespace chexbench::report {

std::optional<RankSpread> rank_spread(const TrialResult& trial) {
  std::map<int, double> own_s;
  for (const RepeatResult& repeat : trial.repeats) {
    for (const StepRecord& step : repeat.steps) {
      own_s[step.rank] += step.timings.wall_s - step.timings.exposed_communication_s;
    }
  }
  if (own_s.size() < 2) return std::nullopt;
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fastest, slowest] = std::minmax_element(own_s.begin(), own_s.end(), by_time);
  if (!(fastest->second > 0)) return std::nullopt;
  return RankSpread{.spread = slowest->second / fastest->second - 1, .slowest = slowest->first};
}

}  // namespace chexbench::report
