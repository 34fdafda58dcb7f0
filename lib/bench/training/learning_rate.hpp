// The learning rate of each step of a training over epochs.
#pragma once

#include <cstdint>
#include <limits>

#include "spec/experiment.hpp"

namespace chexbench::bench {

// How a training divides into steps.
struct EpochPlan {
  int ranks = 1;
  std::int64_t steps_per_epoch = 1;
};

// training.learning_rate, times the ranks where training.scale_learning_rate says so (linear scaling, Goyal et al.,
// "Accurate, large minibatch SGD", 2017), times what the schedule makes of it. In the first training.warmup_epochs it
// rises linearly from 0 to that, as MLPerf's ResNet does. Every rank keeps one and must be told the same losses.
class LearningRate {
 public:
  LearningRate(const spec::TrainingSpec& training, const EpochPlan& plan);

  // Of step `step`, from 0. cosine: half a cosine from the end of the warm-up to 0 at the last step's end (Loshchilov
  // and Hutter, "SGDR", ICLR 2017, without restarts).
  double at(std::int64_t step) const;

  // What a plateau depends on; a checkpoint holds it.
  struct State {
    double best_loss = std::numeric_limits<double>::infinity();
    int epochs_without_better = 0;
    double factor = 1;
  };
  // plateau: after training.plateau_patience epochs without a loss below the best one so far, the rate is multiplied by
  // training.plateau_factor (Keras' ReduceLROnPlateau, min_delta 0).
  void end_epoch(double validation_loss);
  const State& state() const { return state_; }
  void resume(const State& state) { state_ = state; }

 private:
  double schedule(double epochs) const;

  const spec::TrainingSpec training_;
  const EpochPlan plan_;
  State state_;
};

}  // namespace chexbench::bench
