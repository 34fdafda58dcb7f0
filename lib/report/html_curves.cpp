#include "report/html_curves.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "measure/statistics.hpp"
#include "results/gpu_summary.hpp"
#include "results/rates.hpp"

namespace chexbench::report {
namespace {

using measure::StepTimings;

// Returns how many values each point combines so that there are at most `most_points`.
std::size_t values_per_point(std::size_t values, std::size_t most_points) {
  return std::max<std::size_t>(1, (values + most_points - 1) / most_points);
}

// Returns the mean of each group of `per_point` consecutive values; the last group may be smaller.
std::vector<double> means(const std::vector<double>& values, std::size_t per_point) {
  std::vector<double> points;
  for (std::size_t begin = 0; begin < values.size(); begin += per_point) {
    const std::size_t count = std::min(per_point, values.size() - begin);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    points.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), 0.0) /
                     static_cast<double>(count));
  }
  return points;
}

}  // namespace

StepCurve step_curve(const results::RepeatResult& repeat, std::size_t most_points) {
  std::map<int, std::vector<double>> walls_s;  // by step, of all ranks
  for (const results::StepRecord& step : repeat.steps) walls_s[step.step].push_back(step.timings.wall_s);
  StepCurve curve{.steps_per_point = values_per_point(walls_s.size(), most_points)};
  std::vector<double> point_s;
  std::size_t steps = 0;
  for (const auto& [step, of_ranks_s] : walls_s) {
    point_s.insert(point_s.end(), of_ranks_s.begin(), of_ranks_s.end());
    if (++steps % curve.steps_per_point != 0 && steps != walls_s.size()) continue;
    curve.median_s.push_back(measure::median(point_s));
    curve.slowest_s.push_back(*std::ranges::max_element(point_s));
    point_s.clear();
  }
  return curve;
}

UtilizationCurve utilization_curve(const results::RepeatResult& repeat, const results::GpuSeries& gpu,
                                   std::size_t most_points) {
  const auto window = results::measured_window(repeat, gpu.rank);
  if (!window) return {};
  UtilizationCurve all;
  for (const measure::GpuSample& sample : gpu.samples) {
    if (!sample.utilization || sample.time_s < window->begin_s || sample.time_s > window->end_s) continue;
    all.time_s.push_back(sample.time_s - window->begin_s);
    all.utilization.push_back(*sample.utilization);
  }
  const std::size_t per_point = values_per_point(all.time_s.size(), most_points);
  return {.time_s = means(all.time_s, per_point), .utilization = means(all.utilization, per_point)};
}

std::vector<QueueCurve> queue_curves(const results::RepeatResult& repeat) {
  std::map<int, std::map<int, std::vector<double>>> depths;  // by op and step, of all ranks
  for (const results::OpSample& sample : repeat.op_samples) {
    depths[sample.op_index][sample.step].push_back(static_cast<double>(sample.queue_depth));
  }
  std::vector<QueueCurve> curves;
  for (const auto& [index, by_step] : depths) {
    const auto op = static_cast<std::size_t>(index);
    if (op >= repeat.ops.size() || repeat.ops[op].queue_capacity == 0) continue;
    QueueCurve& curve = curves.emplace_back(QueueCurve{.op = repeat.ops[op].op, .depth = {}});
    for (const auto& [step, of_ranks] : by_step) curve.depth.push_back(means(of_ranks, of_ranks.size()).front());
  }
  return curves;
}

std::vector<RankTime> time_by_rank(const results::TrialResult& trial) {
  std::map<int, StepTimings> sums;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial)) {
    for (const results::StepRecord& step : repeat->steps) {
      StepTimings& sum = sums[step.rank];
      for (const auto part : measure::kStepDurations) sum.*part += step.timings.*part;
    }
  }
  std::vector<RankTime> ranks;
  for (const auto& [rank, sum] : sums) ranks.push_back({.rank = rank, .sum = sum});
  return ranks;
}

}  // namespace chexbench::report
