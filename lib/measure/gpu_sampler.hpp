// Looks at one GPU all the time that something is measured, and what a window of that time showed.
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
#include <string_view>
#include <thread>
#include <vector>

#include "measure/nvml.hpp"

namespace chexbench::measure {

struct GpuSamplerOptions {
  double interval_s = 0.1;
  std::size_t most_samples = 36'000;  // an hour, 8 MB; beyond that the oldest go
};

// A thread that samples one GPU between start() and stop(), beginning with a sample in start() itself. A sample that
// costs more than 1 % of the interval in CPU time makes the next one come later, so that the thread never takes more
// than 1 % of a core. start() and stop() belong to one thread; the rest is thread-safe at any time.
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

  // Forgets the samples and the problem of an earlier start.
  void start();
  // Returns when the thread has ended, at most one sample later. Without start(): does nothing.
  void stop();

  // In the order of time.
  std::vector<GpuSample> samples() const;
  // Why sampling ended before stop(), e.g. a lost GPU: a sentence. Empty where it did not. Samples before that stay.
  std::string problem() const;

 private:
  void run(const std::stop_token& stop);
  bool take_sample();

  std::unique_ptr<const Gpu> gpu_;
  Options options_;
  mutable std::mutex mutex_;  // of all below but thread_
  std::condition_variable_any wake_;
  std::deque<GpuSample> samples_;
  std::string problem_;
  std::jthread thread_;
};

// A throttle reason, and the share of the samples that had it, of those that told reasons.
struct ThrottleShare {
  std::string_view word;
  double share = 0;
};

// What a window of time showed of a GPU. Each figure rests on the samples that told it, and is empty where none did.
struct GpuWindow {
  std::size_t samples = 0;
  std::optional<double> mean_utilization;
  std::optional<double> mean_memory_utilization;
  std::optional<std::uint64_t> peak_memory_used_bytes;
  std::optional<double> mean_power_w;
  std::optional<double> lowest_sm_clock_hz;
  std::optional<double> lowest_memory_clock_hz;
  std::optional<double> highest_temperature_c;
  std::vector<ThrottleShare> throttle;  // most frequent first
  // Uncorrected ECC errors since the last sample before the window, or, where there is none, since its first sample.
  std::optional<std::uint64_t> new_uncorrected_ecc_errors;
};

// Of the samples, ordered by time, with begin_s <= time_s <= end_s. NVML's utilization looks back by up to 1 s: where
// that matters, begin the window 1 s after the work. Pure, thread-safe.
GpuWindow summarize(std::span<const GpuSample> samples, double begin_s, double end_s);

}  // namespace chexbench::measure
