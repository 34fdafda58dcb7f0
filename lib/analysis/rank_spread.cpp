#include "analysis/rank_spread.hpp"

#include <algorithm>

#include "results/disturbance.hpp"

namespace chexbench::analysis {

std::map<int, double> own_times_s(const results::RepeatResult& repeat) {
  std::map<int, double> times_s;
  for (const results::StepRecord& step : repeat.steps)
    times_s[step.rank] += step.timings.wall_s - step.timings.exposed_communication_s;
  return times_s;
}

std::optional<RankSpread> rank_spread(const results::TrialResult& trial) {
  std::map<int, double> own_s;
  for (const results::RepeatResult* repeat : results::counted_repeats(trial)) {
    for (const auto& [rank, time_s] : own_times_s(*repeat)) own_s[rank] += time_s;
  }
  if (own_s.size() < 2) return std::nullopt;
  const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fastest, slowest] = std::minmax_element(own_s.begin(), own_s.end(), by_time);
  if (!(fastest->second > 0)) return std::nullopt;
  return RankSpread{.spread = slowest->second / fastest->second - 1, .slowest = slowest->first};
}

}  // namespace chexbench::analysis
