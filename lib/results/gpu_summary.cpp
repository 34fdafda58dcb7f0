#include "results/gpu_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace chexbench::results {
namespace {

constexpr const char* kNoReason = "none";

}  // namespace

std::optional<TimeSpan> measured_window(const RepeatResult& repeat, int rank) {
  std::optional<TimeSpan> window;
  for (const StepRecord& step : repeat.steps) {
    if (step.rank != rank) continue;
    const TimeSpan span{.begin_s = step.timings.end_s - step.timings.wall_s, .end_s = step.timings.end_s};
    if (!window) window = span;
    window->begin_s = std::min(window->begin_s, span.begin_s);
    window->end_s = std::max(window->end_s, span.end_s);
  }
  return window;
}

std::vector<measure::GpuSample> samples_around(const std::vector<measure::GpuSample>& samples, const TimeSpan& window) {
  const auto by_time = [](const auto& sample) { return sample.time_s; };
  auto first = std::ranges::lower_bound(samples, window.begin_s, {}, by_time);
  auto last = std::ranges::upper_bound(samples, window.end_s, {}, by_time);
  if (first != samples.begin()) --first;
  if (last != samples.end()) ++last;
  return {first, last};
}

measure::GpuWindow summarize_gpu(const RepeatResult& repeat, const GpuSeries& gpu) {
  const std::optional<TimeSpan> window = measured_window(repeat, gpu.rank);
  if (!window) return {};
  measure::GpuWindow summary = measure::summarize(gpu.samples, window->begin_s, window->end_s);
  const measure::GpuWindow settled =
      measure::summarize(gpu.samples, window->begin_s + measure::kUtilizationPeriodS, window->end_s);
  summary.mean_utilization = settled.mean_utilization;
  summary.mean_memory_utilization = settled.mean_memory_utilization;
  return summary;
}

measure::GpuWindow summarize_gpus(const TrialResult& trial) {
  std::vector<measure::GpuWindow> windows;
  for (const RepeatResult& repeat : trial.repeats) {
    for (const GpuSeries& gpu : repeat.gpus) windows.push_back(summarize_gpu(repeat, gpu));
  }
  return measure::combine(windows);
}

std::string reasons_text(const std::vector<std::string>& reasons) {
  return reasons.empty() ? kNoReason : fmt::format("{}", fmt::join(reasons, " "));
}

std::vector<std::string> reasons_from_text(const std::string& text) {
  std::vector<std::string> reasons;
  if (text == kNoReason) return reasons;
  std::istringstream words(text);
  for (std::string word; words >> word;) reasons.push_back(word);
  return reasons;
}

}  // namespace chexbench::results
