// What a training over epochs asks of an engine beside its steps: another learning rate, evaluation, and all that a
// checkpoint holds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine {

using model::TensorInfo;
using model::WeightSource;

// Part of an engine, and driven by the same thread between its steps. All functions @throws DeviceError where the
// device fails.
class EpochTraining {
 public:
  virtual ~EpochTraining() = default;

  // Of the steps from now on; Engine::restart() brings the spec's back.
  virtual void set_learning_rate(double rate) = 0;

  // Forward alone, as the trained network would be used: running statistics normalize, nothing is dropped or changed.
  // `logits` holds [batch->valid, outputs]. The time it takes belongs to no step.
  // @throws SpecError for a batch of another shape
  virtual void evaluate(BatchLease batch, std::span<float> logits) = 0;

  // What was done since the last step, all of which are finished, belongs to no step: averaging, checkpoints, waiting.
  virtual void leave_out_time() = 0;

  // Replaces the running statistics; `source` is asked for each of Engine::buffers().
  virtual void set_buffers(const WeightSource& source) = 0;

  // What the optimizer remembers of each parameter, as PyTorch calls it and in PyTorch's order: "exp_avg.NAME" and
  // "exp_avg_sq.NAME" of Adam, "momentum_buffer.NAME" of SGD; and what scales the loss of half precision,
  // "grad_scaler".
  virtual std::vector<TensorInfo> moments() const = 0;
  // @throws SpecError as Engine::read_parameter()
  virtual void read_moment(const std::string& name, std::span<float> values) const = 0;
  // Updates so far, those before a resume() included.
  virtual std::int64_t updates() const = 0;

  // Goes on from a checkpoint: `source` is asked for each parameter, buffer and moment. Engine::restart() still goes
  // back to the beginning.
  virtual void resume(const WeightSource& source, std::int64_t updates) = 0;
};

}  // namespace chexbench::engine
