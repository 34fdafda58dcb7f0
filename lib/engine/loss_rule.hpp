// The loss of a training, for all engines that train.
#pragma once

#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// The loss of a batch, as PyTorch computes it.
//
// multi_label: binary_cross_entropy_with_logits, the mean over batch and outputs. `weights` are its pos_weight. A
// target t becomes t (1 - smoothing) + smoothing / 2, as in Keras; PyTorch has no smoothing here.
//
// classes: cross_entropy, the mean over the batch, weighted by `weights` of the images' classes. A target t becomes
// t (1 - smoothing) + smoothing / outputs.
struct LossRule {
  spec::Task task = spec::Task::multi_label;
  double smoothing = 0;
  std::vector<float> weights;  // of each output; empty: all are 1
};

inline LossRule loss_rule(const spec::TrainingSpec& training, const std::vector<float>& class_weights) {
  return {.task = training.task, .smoothing = training.label_smoothing, .weights = class_weights};
}

}  // namespace chexbench::engine
