// Updates one weight by torch.optim's formulas in double.
#pragma once

#include <cmath>

#include "spec/experiment.hpp"

namespace chexbench::engine::onednn {

struct OptimizerTwin {
  spec::TrainingSpec training;
  double weight = 0;
  double first = 0, second = 0;  // Adam's moments; first is also SGD's momentum
  int step = 0;

  void update(double gradient) {
    ++step;
    if (training.optimizer == spec::OptimizerKind::sgd) {
      first = training.momentum * first + gradient;
      weight -= training.learning_rate * first;
      return;
    }
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    const double mean = first / (1 - std::pow(0.9, step)), square = second / (1 - std::pow(0.999, step));
    weight -= training.learning_rate * mean / (std::sqrt(square) + 1e-8);
  }
};

}  // namespace chexbench::engine::onednn
