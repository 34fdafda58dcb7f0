// Looks at one GPU all the time that something is measured.
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
  std::size_t most_samples = 36'000;  // an hour, under 15 MB; beyond that the oldest go
};

// A thread that samples one GPU between start() and stop(), beginning with a sample in start() itself and ending with
// one in stop(). A sample that costs more than 1 % of the interval in CPU time makes the next one come later, so that
// the thread never takes more than 1 % of a core. start() and stop() belong to one thread; the rest is thread-safe at
// any time.
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
  // Returns when the thread has ended and the last sample is taken. Without start(): does nothing.
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

}  // namespace chexbench::measure
