// Computes the learning rate of each step of a training over epochs.
#pragma once

#include <cstdint>
#include <limits>

#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// How a training is divided into steps.
struct EpochPlan {
  int ranks = 1;
  std::int64_t steps_per_epoch = 1;
};

// The rate is training.learning_rate, multiplied by the number of ranks if training.scale_learning_rate is set (linear
// scaling, Goyal et al., "Accurate, large minibatch SGD", 2017), and by the factor of the schedule. Over the first
// training.warmup_epochs it rises linearly from 0 to that value, as in MLPerf's ResNet. Every rank has one, and all
// must get the same losses. Not thread-safe.
class LearningRate {
 public:
  LearningRate(const spec::TrainingSpec& training, const EpochPlan& plan);

  // Returns the rate of step `step`, counted from 0 over the whole training. With schedule cosine the factor is half a
  // cosine, from 1 at the end of the warm-up to 0 at the end of the last step (Loshchilov and Hutter, "SGDR", ICLR
  // 2017, without restarts).
  double at(std::int64_t step) const;

  // What the plateau schedule depends on. It is part of a checkpoint.
  struct State {
    double best_loss = std::numeric_limits<double>::infinity();
    int epochs_without_better = 0;
    double factor = 1;
  };
  // Records the loss of a finished epoch. With schedule plateau, training.plateau_patience epochs without a loss below
  // the best one so far multiply the rate by training.plateau_factor (Keras' ReduceLROnPlateau with min_delta 0).
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
