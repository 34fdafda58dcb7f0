#include "measure/gpu_sampler.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/clock.hpp"
#include "measure/statistics.hpp"

namespace chexbench::measure {
namespace {

constexpr double kMostCpuShare = 0.01;

}  // namespace

GpuSampler::GpuSampler(std::unique_ptr<const Gpu> gpu, Options options) : gpu_(std::move(gpu)), options_(options) {}

void GpuSampler::start() {
  stop();
  {
    const std::lock_guard lock(mutex_);
    samples_.clear();
    problem_.clear();
  }
  if (take_sample()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void GpuSampler::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  if (problem().empty()) take_sample();
}

void GpuSampler::run(const std::stop_token& stop) {
  double due_s = now_s() + options_.interval_s;
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, std::chrono::duration<double>(due_s - now_s()), [] { return false; });
    }
    if (stop.stop_requested()) return;
    const Stopwatch cost;
    if (!take_sample()) return;
    // The next time is computed from the previous due time, so that small delays do not add up. Missed samples are
    // skipped.
    const double done_s = now_s();
    due_s = (due_s + options_.interval_s > done_s ? due_s : done_s) + options_.interval_s;
    due_s = std::max(due_s, done_s + cost.cpu_s() / kMostCpuShare);
  }
}

// Returns false if the GPU cannot be queried any more.
bool GpuSampler::take_sample() {
  try {
    GpuSample sample = gpu_->sample();  // without the lock, because it makes system calls
    const std::lock_guard lock(mutex_);
    if (samples_.size() == options_.most_samples) samples_.pop_front();
    samples_.push_back(std::move(sample));
    return true;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    problem_ = error.what();
    return false;
  }
}

std::vector<GpuSample> GpuSampler::samples() const {
  const std::lock_guard lock(mutex_);
  return {samples_.begin(), samples_.end()};
}

std::string GpuSampler::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

namespace {

// Returns the values of one figure from the samples or windows that have it.
template <class Record, class Value>
std::vector<Value> told(std::span<const Record> records, std::optional<Value> Record::*figure) {
  std::vector<Value> values;
  for (const Record& record : records) {
    if (record.*figure) values.push_back(*(record.*figure));
  }
  return values;
}

std::optional<double> mean_if_any(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

// Returns the value that is first in the order `before`; std::nullopt if there are no values.
template <class Value, class Before>
std::optional<Value> extreme(const std::vector<Value>& values, Before before) {
  const auto found = std::min_element(values.begin(), values.end(), before);
  return found == values.end() ? std::nullopt : std::optional(*found);
}

using Reasons = std::vector<std::vector<std::string>>;  // the reasons of each sample

// Adds a share of a reason, which may already be in `shares`.
void add(std::vector<ThrottleShare>& shares, const std::string& word, double share) {
  auto found = std::find_if(shares.begin(), shares.end(), [&word](const auto& one) { return one.word == word; });
  if (found == shares.end()) found = shares.insert(found, {.word = word});
  found->share += share;
}

// Divides the sums of shares by the number of summands and sorts them, largest first.
std::vector<ThrottleShare> means(std::vector<ThrottleShare> shares, std::size_t number) {
  for (ThrottleShare& one : shares) one.share /= static_cast<double>(number);
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return shares;
}

std::vector<ThrottleShare> throttle_shares(const Reasons& reasons) {
  std::vector<ThrottleShare> shares;
  for (const auto& words : reasons) {
    for (const std::string& word : words) add(shares, word, 1);
  }
  return means(std::move(shares), reasons.size());
}

// A window that reported reasons, but not this one, counts with a share of 0.
std::vector<ThrottleShare> throttle_shares(std::span<const GpuWindow> windows) {
  std::vector<ThrottleShare> shares;
  for (const GpuWindow& window : windows) {
    for (const auto& [word, share] : window.throttle) add(shares, word, share);
  }
  return means(std::move(shares), told(windows, &GpuWindow::throttled_share).size());
}

std::optional<double> throttled_share(const Reasons& reasons) {
  if (reasons.empty()) return std::nullopt;
  const auto throttled = std::count_if(reasons.begin(), reasons.end(), is_throttled);
  return static_cast<double>(throttled) / static_cast<double>(reasons.size());
}

// Returns the increase from first to last; 0 if the counter decreased because a reset of the GPU cleared it.
std::optional<std::uint64_t> rise(const std::vector<std::uint64_t>& counts) {
  if (counts.size() < 2) return std::nullopt;
  return std::max(counts.back(), counts.front()) - counts.front();
}

// The energy counter misses no peak between samples. It is useless before it has moved.
std::optional<double> mean_power_w(std::span<const GpuSample> samples) {
  if (samples.size() > 1 && samples.front().energy_j && samples.back().energy_j) {
    const double energy_j = *samples.back().energy_j - *samples.front().energy_j;
    if (energy_j > 0) return energy_j / (samples.back().time_s - samples.front().time_s);
  }
  return mean_if_any(told(samples, &GpuSample::power_w));
}

std::optional<std::uint64_t> sum(const std::vector<std::uint64_t>& counts) {
  if (counts.empty()) return std::nullopt;
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

bool is_throttled(const std::vector<std::string>& reasons) {
  // hw_slowdown means power or heat, but not which of them.
  constexpr std::array<std::string_view, 5> kPowerAndHeat{"sw_power_cap", "hw_slowdown", "sw_thermal_slowdown",
                                                          "hw_thermal_slowdown", "hw_power_brake_slowdown"};
  return std::find_first_of(reasons.begin(), reasons.end(), kPowerAndHeat.begin(), kPowerAndHeat.end()) !=
         reasons.end();
}

GpuWindow summarize(std::span<const GpuSample> samples, double begin_s, double end_s) {
  const auto first = std::lower_bound(samples.begin(), samples.end(), begin_s,
                                      [](const GpuSample& sample, double time_s) { return sample.time_s < time_s; });
  const auto last = std::upper_bound(first, samples.end(), end_s,
                                     [](double time_s, const GpuSample& sample) { return time_s < sample.time_s; });
  const std::span<const GpuSample> within(first, last);
  const std::span<const GpuSample> with_neighbours(first == samples.begin() ? first : first - 1,
                                                   last == samples.end() ? last : last + 1);
  const Reasons reasons = told(within, &GpuSample::throttle_reasons);
  return {.samples = within.size(),
          .mean_utilization = mean_if_any(told(within, &GpuSample::utilization)),
          .mean_memory_utilization = mean_if_any(told(within, &GpuSample::memory_utilization)),
          .peak_memory_used_bytes = extreme(told(within, &GpuSample::memory_used_bytes), std::greater<>()),
          .mean_power_w = mean_power_w(within),
          .mean_sm_activity = mean_if_any(told(within, &GpuSample::sm_activity)),
          .mean_tensor_activity = mean_if_any(told(within, &GpuSample::tensor_activity)),
          .mean_dram_activity = mean_if_any(told(within, &GpuSample::dram_activity)),
          .lowest_sm_clock_hz = extreme(told(within, &GpuSample::sm_clock_hz), std::less<>()),
          .lowest_memory_clock_hz = extreme(told(within, &GpuSample::memory_clock_hz), std::less<>()),
          .highest_temperature_c = extreme(told(within, &GpuSample::temperature_c), std::greater<>()),
          .throttled_share = throttled_share(reasons),
          .throttle = throttle_shares(reasons),
          .new_uncorrected_ecc_errors = rise(told(with_neighbours, &GpuSample::uncorrected_ecc_errors))};
}

GpuWindow combine(std::span<const GpuWindow> windows) {
  std::size_t samples = 0;
  for (const GpuWindow& window : windows) samples += window.samples;
  return {.samples = samples,
          .mean_utilization = mean_if_any(told(windows, &GpuWindow::mean_utilization)),
          .mean_memory_utilization = mean_if_any(told(windows, &GpuWindow::mean_memory_utilization)),
          .peak_memory_used_bytes = extreme(told(windows, &GpuWindow::peak_memory_used_bytes), std::greater<>()),
          .mean_power_w = mean_if_any(told(windows, &GpuWindow::mean_power_w)),
          .mean_sm_activity = mean_if_any(told(windows, &GpuWindow::mean_sm_activity)),
          .mean_tensor_activity = mean_if_any(told(windows, &GpuWindow::mean_tensor_activity)),
          .mean_dram_activity = mean_if_any(told(windows, &GpuWindow::mean_dram_activity)),
          .lowest_sm_clock_hz = extreme(told(windows, &GpuWindow::lowest_sm_clock_hz), std::less<>()),
          .lowest_memory_clock_hz = extreme(told(windows, &GpuWindow::lowest_memory_clock_hz), std::less<>()),
          .highest_temperature_c = extreme(told(windows, &GpuWindow::highest_temperature_c), std::greater<>()),
          .throttled_share = mean_if_any(told(windows, &GpuWindow::throttled_share)),
          .throttle = throttle_shares(windows),
          .new_uncorrected_ecc_errors = sum(told(windows, &GpuWindow::new_uncorrected_ecc_errors))};
}

}  // namespace chexbench::measure
