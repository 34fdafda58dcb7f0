// What the engines that train have in common: the operations of a training over epochs, their loss, and a base class
// with the parts of their contracts that do not depend on the device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "engine/engine.hpp"
#include "engine/step_parts.hpp"
#include "model/weights.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// The operations that a training over epochs needs from an engine in addition to its steps: changing the learning rate,
// evaluation, and access to everything that a checkpoint stores. The thread that drives the engine calls them, between
// steps. Not thread-safe.
// @throws DeviceError from any function if the device fails
class EpochTraining {
 public:
  virtual ~EpochTraining() = default;

  // Sets the rate for all following steps; Engine::restart() restores the spec's rate.
  virtual void set_learning_rate(double rate) = 0;

  // Runs forward only, as for the trained network: norms use their running statistics, dropout is off, and no state
  // changes. Writes `logits`, [batch->valid, outputs]. The batch need not be full. The time it takes is not counted in
  // any step.
  // @throws SpecError if the batch has another shape than the engine was built for
  virtual void evaluate(BatchLease batch, std::span<float> logits) = 0;

  // Exchanges the weights with their moving average (training.ema_decay), so that evaluate() and
  // Engine::read_parameter() use that; a second call, which must come before the next step, exchanges them back. Does
  // nothing if there is no average, or before the first update.
  virtual void swap_average() = 0;

  // Excludes the time since the last step from the next step's timings; all steps must be finished. For averaging,
  // writing checkpoints and waiting between steps.
  virtual void leave_out_time() = 0;

  // Replaces the running statistics; asks `source` for each tensor of Engine::buffers().
  // @throws any exception of `source`
  virtual void set_buffers(const WeightSource& source) = 0;

  // The optimizer's state of each parameter, with PyTorch's names and in PyTorch's order: "exp_avg.NAME" and
  // "exp_avg_sq.NAME" for Adam and AdamW, "momentum_buffer.NAME" for SGD; then "ema.NAME", the moving average of the
  // weights, if there is one. In half precision with loss scaling there is also "grad_scaler", the state of the loss
  // scale.
  virtual std::vector<TensorInfo> moments() const = 0;
  // Copies one moment into `values`, TensorInfo::count() floats.
  // @throws SpecError if no moment has that name, or if `values` has another size
  virtual void read_moment(const std::string& name, std::span<float> values) const = 0;
  // Number of updates so far, including those before a resume().
  virtual std::int64_t updates() const = 0;

  // Continues from a checkpoint: asks `source` for each parameter, buffer and moment. `updates` is the value of
  // updates() that the checkpoint stores. Engine::restart() still goes back to the initial weights.
  // @throws any exception of `source`
  virtual void resume(const WeightSource& source, std::int64_t updates) = 0;
};

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
