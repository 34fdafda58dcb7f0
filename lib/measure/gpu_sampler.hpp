// Samples one GPU at regular intervals while something is measured.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
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

}  // namespace chexbench::measure
