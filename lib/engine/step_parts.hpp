// Bookkeeping of engines: steps that consist of several batches (training.accumulate_steps), and times of ops.
#pragma once

#include <optional>
#include <string>

#include "measure/step_timings.hpp"

namespace chexbench::engine {

// Counts a step's batches and adds up their times. Not thread-safe.
class StepParts {
 public:
  explicit StepParts(int batches) : batches_(batches) {}

  // Whether the next batch is the first, or the last, one of its step.
  bool is_first() const { return done_ == 0; }
  bool is_last() const { return done_ + 1 == batches_; }
  int batches() const { return batches_; }
  // Number of batches of the current step that are done.
  int done() const { return done_; }
  // Records the times of a finished batch. If it was the last one of its step, returns the step's times: the sums of
  // times and images, the mean loss, and the end of the last batch. Otherwise returns std::nullopt.
  std::optional<measure::StepTimings> add(const measure::StepTimings& batch) {
    if (is_first()) sum_ = {};
    for (const auto duration : measure::kStepDurations) sum_.*duration += batch.*duration;
    sum_.end_s = batch.end_s;
    sum_.loss += batch.loss;
    sum_.images += batch.images;
    if (++done_ < batches_) return std::nullopt;
    done_ = 0;
    sum_.loss /= batches_;
    return sum_;
  }
  // Discards a step that is not complete.
  void restart() { done_ = 0; }

 private:
  const int batches_;
  int done_ = 0;
  measure::StepTimings sum_;
};

// The time of all ops of one kind together, such as "convolution 3x3".
struct OpTime {
  std::string kind;
  int ops = 0;           // of the network
  double forward_s = 0;  // in all steps together
  double backward_s = 0;
};

}  // namespace chexbench::engine
