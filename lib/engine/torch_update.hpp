// The reference update of one weight for training.optimizer, by torch.optim's formulas in double. The self-test of
// updates and the tests compare engines with it; no engine uses it.
#pragma once

#include <algorithm>
#include <cmath>

#include "spec/trial_spec.hpp"

namespace chexbench::engine {

struct TorchWeight {
  double value = 0;
  double first = 0, second = 0;  // Adam's moments; first is also SGD's momentum
  double magnitude = 0;          // the largest gradient so far, with its decay
  double root = 1;               // the divisor of Adam's last update
  int updates = 0;

  void update(const spec::TrainingSpec& training, double gradient) {
    ++updates;
    magnitude = std::max(magnitude, std::abs(gradient) + training.weight_decay * std::abs(value));
    if (training.optimizer == spec::OptimizerKind::adamw) {
      value *= 1 - training.learning_rate * training.weight_decay;
    } else {
      gradient += training.weight_decay * value;
    }
    if (training.optimizer == spec::OptimizerKind::sgd) {
      first = training.momentum * first + gradient;
      value -= training.learning_rate * first;
      return;
    }
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    root = std::sqrt(second / (1 - std::pow(0.999, updates))) + 1e-8;
    value -= training.learning_rate * first / (1 - std::pow(0.9, updates)) / root;
  }

  // How far f32 may be from this: if gradient and decay nearly cancel each other, Adam divides their rounding by the
  // small remainder.
  double slack(const spec::TrainingSpec& training) const { return training.learning_rate * 2e-6 * magnitude / root; }
};

}  // namespace chexbench::engine
