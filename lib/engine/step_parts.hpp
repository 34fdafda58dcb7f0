// The batches of one step, where training.accumulate_steps says that it has several.
#pragma once

#include <optional>

#include "measure/step_timings.hpp"

namespace chexbench::engine {

// Counts a step's batches and adds up their times. Not thread-safe.
class StepParts {
 public:
  explicit StepParts(int batches) : batches_(batches) {}

  // Whether the next batch opens, or ends, a step.
  bool is_first() const { return done_ == 0; }
  bool is_last() const { return done_ + 1 == batches_; }
  int batches() const { return batches_; }
  // Batches of the step that are done.
  int done() const { return done_; }
  // A batch is done, with its times. Where it was the step's last one, those of the step: sums, and the mean loss.
  std::optional<measure::StepTimings> add(const measure::StepTimings& batch);
  // Forgets a step that has begun.
  void restart() { done_ = 0; }

 private:
  const int batches_;
  int done_ = 0;
  measure::StepTimings sum_;
};

}  // namespace chexbench::engine
