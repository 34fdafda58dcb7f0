// The interface for observers of a repeat's steps, and the observers that any repeat may have.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/gpu_watch.hpp"
#include "bench/recorder.hpp"
#include "core/reducer.hpp"
#include "results/record.hpp"

namespace chexbench::bench {

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

// Calls several observers in order.
class StepObservers {
 public:
  void add(StepObserver& observer) { observers_.push_back(&observer); }  // which must outlive this list
  void add(std::unique_ptr<StepObserver> observer);

  void begin_repeat() const;
  void begin_steps() const;
  void before_step(std::int64_t step) const;
  void after_step(std::int64_t step, Recorder& recorder) const;
  void end_repeat(results::RepeatResult& result) const;

 private:
  std::vector<StepObserver*> observers_;
  std::vector<std::unique_ptr<StepObserver>> owned_;
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
