// Samples one GPU at regular intervals while something is measured, and aggregates the samples over a window of time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "measure/nvml.hpp"

namespace chexbench::measure {

struct GpuSamplerOptions {
  double interval_s = 0.1;
  std::size_t most_samples = 36'000;  // one hour, under 15 MB; beyond that the oldest are dropped
};

// A thread that samples one GPU between start() and stop(). The first sample is taken in start() itself, the last one
// in stop(). If a sample costs more than 1 % of the interval in CPU time, the next one comes later, so that the
// thread never takes more than 1 % of a core. start() and stop() must be called by one thread; the other functions
// are thread-safe at any time.
//
//   GpuSampler sampler(open_nvml()->gpu_by_uuid(uuid));
//   sampler.start();
//   ...                            // steps, timed with now_s()
//   sampler.stop();
//   const GpuWindow window = summarize(sampler.samples(), begin_s, end_s);
class GpuSampler {
 public:
  using Options = GpuSamplerOptions;

  explicit GpuSampler(std::unique_ptr<const Gpu> gpu, Options options = {});
  ~GpuSampler() { stop(); }
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  const GpuInfo& gpu() const { return gpu_->info(); }

  // Discards the samples and the problem of an earlier start.
  void start();
  // Returns after the thread has ended and the last sample is taken. Does nothing if start() was not called.
  void stop();

  // Returns a copy of the samples, ordered by time.
  std::vector<GpuSample> samples() const;
  // Returns a sentence that explains why sampling ended before stop(), for example because the GPU was lost; empty if
  // it did not. The samples taken before that remain.
  std::string problem() const;

 private:
  void run(const std::stop_token& stop);
  bool take_sample();

  std::unique_ptr<const Gpu> gpu_;
  Options options_;
  mutable std::mutex mutex_;  // guards all members below except thread_
  std::condition_variable_any wake_;
  std::deque<GpuSample> samples_;
  std::string problem_;
  std::jthread thread_;
};

// A throttle reason and the share of samples that had it, among the samples that reported reasons.
struct ThrottleShare {
  std::string word;
  double share = 0;
};

// Aggregates of a GPU's samples within a time window. Each figure is computed from the samples that reported it, and
// is std::nullopt if none did. Shares and utilizations are between 0 and 1.
struct GpuWindow {
  std::size_t samples = 0;
  std::optional<double> mean_utilization;
  std::optional<double> mean_memory_utilization;
  std::optional<std::uint64_t> peak_memory_used_bytes;
  std::optional<double> mean_power_w;  // from the energy counter, or else the mean of the samples
  std::optional<double> mean_sm_activity;
  std::optional<double> mean_tensor_activity;
  std::optional<double> mean_dram_activity;
  std::optional<double> lowest_sm_clock_hz;
  std::optional<double> lowest_memory_clock_hz;
  std::optional<double> highest_temperature_c;
  std::optional<double> throttled_share;  // samples with a reason of power or heat
  std::vector<ThrottleShare> throttle;    // every reason, most frequent first
  // The number of uncorrected ECC errors that appeared between the last sample before the window and the first one
  // after it, because an error late in a window shows only in the next sample. If there are no such samples, the
  // window's own first and last samples are compared.
  std::optional<std::uint64_t> new_uncorrected_ecc_errors;
};

// Returns whether power or heat holds the clocks down, by a sample's throttle reasons. Pure, thread-safe.
bool is_throttled(const std::vector<std::string>& reasons);

// The longest period before a sample, in seconds, that NVML's utilization figures cover. If that matters, begin the
// window this long after the work began.
inline constexpr double kUtilizationPeriodS = 1;

// Aggregates the samples with begin_s <= time_s <= end_s. `samples` must be ordered by time. Pure, thread-safe.
GpuWindow summarize(std::span<const GpuSample> samples, double begin_s, double end_s);

// Combines the windows of several GPUs that worked at the same time, or of several repeats: means of the means and
// shares, with equal weight for each window; extremes of the extremes; sums of samples and errors. Mean power therefore
// remains the power of one GPU. Each figure is computed from the windows that include it. Pure, thread-safe.
GpuWindow combine(std::span<const GpuWindow> windows);

}  // namespace chexbench::measure
