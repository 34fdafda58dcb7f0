// Observers of a repeat's steps: their interface, those that any repeat may have, and the watch over an engine's GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/recorder.hpp"
#include "core/reducer.hpp"
#include "measure/gpu_sampler.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

// Samples the GPU that an engine computes on while its repeats run. There is one per engine. Not thread-safe: only the
// loop's thread uses it; another thread takes the samples.
class GpuWatch {
 public:
  // Finds the GPU through NVML, which may take a second. If NVML does not answer, every series has no samples, with the
  // reason. `gpu_uuid` is empty for an engine without a GPU; nothing is sampled then. Never throws.
  explicit GpuWatch(std::string gpu_uuid);

  // Start and stop the sampling: before the warm-up of a repeat and after its last step.
  void begin();
  void end();

  // Returns the samples since begin() that are in or next to the measured window of `result`, which holds the steps of
  // `rank`. Returns nothing for an engine without a GPU.
  std::vector<results::GpuSeries> series(const results::RepeatResult& result, int rank) const;

  // Returns NVML's information about a repeat that ended with a device error, as " (NVML: ...)": memory errors since
  // begin(), or the loss of the GPU. Returns "" if there is none. Stops the sampling.
  std::string last_words();

 private:
  std::string gpu_uuid_;
  std::string problem_;  // why there is no sampler
  std::optional<measure::GpuSampler> sampler_;
};

// Returns a sentence for each GPU with new uncorrected ECC errors during the repeat.
std::vector<std::string> ecc_notes(const results::RepeatResult& repeat);

class SecondJob;  // second_job/second_job.hpp

// The progress of a repeat after a step, as seen by this rank.
struct StepProgress {
  std::int64_t step = 0;  // from 0
  std::int64_t total_steps = 0;
  std::int64_t first_step = 0;  // earlier steps were trained by an earlier run and are only skipped now
  MeasuredSoFar measured;
};
using OnStep = std::function<void(const StepProgress&)>;

// The loop (trial.cpp) calls these in the order of declaration, on its own thread. The work of an observer between two
// steps is part of the measured time, unless it pauses the recorder.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void begin_repeat() {}                                             // before the ranks meet
  virtual void begin_steps() {}                                              // after that, right before the first step
  virtual void before_step(std::int64_t /*step*/) {}                         // steps count from 0 over a whole training
  virtual void after_step(std::int64_t /*step*/, Recorder& /*recorder*/) {}  // an engine may run a step behind
  virtual void end_repeat(results::RepeatResult& /*result*/) {}              // adds to the recorder's result
};

// Puts the times at which `reducer` averaged buckets on the device into the trace, if this process is tracing.
std::unique_ptr<StepObserver> trace_device_buckets(Reducer& reducer);

// Reports each finished step, from `first_step` on, to `on_step`, which must not be empty.
std::unique_ptr<StepObserver> report_progress(OnStep on_step, std::int64_t first_step, std::int64_t total_steps);

// Measures how much of `cores` other processes used during the steps, and adds it to the result. The process must have
// the cores for itself, except for `second_job` (may be null), which may use some of them: its use is not a
// disturbance, and memory stalls are not counted with it, because it may cause them itself.
std::unique_ptr<StepObserver> measure_disturbance(std::vector<int> cores, SecondJob* second_job = nullptr);

// Checks at the end of the repeat which of `cores`, to which this thread was bound, are missing in its CPU mask. Must
// come after measure_disturbance().
std::unique_ptr<StepObserver> watch_core_mask(std::vector<int> cores);

// Samples the GPU throughout the repeat, and adds the samples of `rank` to the result.
std::unique_ptr<StepObserver> sample_gpu(GpuWatch& watch, int rank);

}  // namespace chexbench::bench
