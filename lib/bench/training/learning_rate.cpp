#include "bench/training/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace chexbench::bench {

LearningRate::LearningRate(const spec::TrainingSpec& training, const EpochPlan& plan)
    : training_(training), plan_(plan) {}

double LearningRate::schedule(double epochs) const {
  if (training_.schedule != spec::Schedule::cosine) return state_.factor;
  const double span = training_.epochs - training_.warmup_epochs;
  const double done = span <= 0 ? 0 : std::clamp((epochs - training_.warmup_epochs) / span, 0.0, 1.0);
  return (1 + std::cos(std::numbers::pi * done)) / 2;
}

double LearningRate::at(std::int64_t step) const {
  const double steps_per_epoch = static_cast<double>(plan_.steps_per_epoch);
  const double warmup_steps = training_.warmup_epochs * steps_per_epoch;
  const double full = training_.learning_rate * (training_.scale_learning_rate ? plan_.ranks : 1);
  const double warmup = warmup_steps <= 0 ? 1 : std::min(1.0, (static_cast<double>(step) + 1) / warmup_steps);
  return full * warmup * schedule(static_cast<double>(step) / steps_per_epoch);
}

void LearningRate::end_epoch(double validation_loss) {
  if (validation_loss < state_.best_loss) {
    state_.best_loss = validation_loss;
    state_.epochs_without_better = 0;
    return;
  }
  if (++state_.epochs_without_better < training_.plateau_patience) return;
  if (training_.schedule == spec::Schedule::plateau) state_.factor *= training_.plateau_factor;
  state_.epochs_without_better = 0;
}

}  // namespace chexbench::bench
