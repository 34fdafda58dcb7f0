// Base class of the engines that train: the parts of their contracts that do not depend on the device.
#pragma once

#include <cstdint>

#include "engine/engine.hpp"
#include "engine/epoch_training.hpp"
#include "engine/step_parts.hpp"

namespace chexbench::engine {

class TrainingEngine : public Engine, protected EpochTraining {
 public:
  const EngineTraits& traits() const final { return traits_; }
  const measure::StepTimings& timings() const final { return timings_; }
  std::int64_t steps_finished() const final { return steps_finished_; }
  EpochTraining* epoch_training() final { return this; }

 protected:
  explicit TrainingEngine(const EngineConfig& config)
      : shape_{config.training.batch_size, config.model.image_size, config.model.image_size, config.deliver,
               config.outputs},
        parts_(config.training.accumulate_steps) {}

  // Records the times of a finished batch, and with the last batch of a step those of the step.
  void finish_batch(const measure::StepTimings& batch) {
    if (const auto step = parts_.add(batch)) {
      timings_ = *step;
      ++steps_finished_;
    }
  }
  // The part of restart() that concerns steps.
  void restart_steps() {
    timings_ = {};
    steps_finished_ = 0;
    parts_.restart();
  }

  // Where the next batch is in its step.
  const StepParts& parts() const { return parts_; }

  const BatchShape shape_;
  EngineTraits traits_;

 private:
  StepParts parts_;
  measure::StepTimings timings_;
  std::int64_t steps_finished_ = 0;
};

}  // namespace chexbench::engine
