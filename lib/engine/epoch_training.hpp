// The operations that a training over epochs needs from an engine in addition to its steps: changing the learning rate,
// evaluation, and access to everything that a checkpoint stores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "model/tensor_info.hpp"

namespace chexbench::engine {

using model::TensorInfo;
using model::WeightSource;

// What a network averages over all pixels before its last layer, [images, channels, height, width].
struct FeatureMaps {
  int channels = 0;
  int height = 0;
  int width = 0;
  std::vector<float> values;
};

// A view of an engine; the thread that drives the engine calls it, between steps. Not thread-safe.
// @throws DeviceError from any function if the device fails
class EpochTraining {
 public:
  virtual ~EpochTraining() = default;

  // Sets the rate for all following steps; Engine::restart() restores the spec's rate.
  virtual void set_learning_rate(double rate) = 0;

  // Runs forward only, as the trained network would be used: norms use their running statistics, dropout is off, and no
  // state changes. Writes `logits`, [batch->valid, outputs]. The batch need not be full. The time it takes is not
  // counted in any step.
  // @throws SpecError if the batch has another shape than the engine was built for
  virtual void evaluate(BatchLease batch, std::span<float> logits) = 0;

  // Returns the maps of the first `images` images of the last evaluate(), or std::nullopt if the network averages none,
  // or the engine gives none out.
  virtual std::optional<FeatureMaps> features(int /*images*/) const { return std::nullopt; }

  // Excludes the time since the last step from the next step's timings; all steps must be finished. For averaging,
  // writing checkpoints and waiting between steps.
  virtual void leave_out_time() = 0;

  // Replaces the running statistics; asks `source` for each tensor of Engine::buffers().
  // @throws what `source` throws
  virtual void set_buffers(const WeightSource& source) = 0;

  // The optimizer's state of each parameter, with PyTorch's names and in PyTorch's order: "exp_avg.NAME" and
  // "exp_avg_sq.NAME" for Adam, "momentum_buffer.NAME" for SGD. In half precision with loss scaling there is also
  // "grad_scaler", the state of the loss scale.
  virtual std::vector<TensorInfo> moments() const = 0;
  // Copies one moment into `values`, TensorInfo::count() floats.
  // @throws SpecError if no moment has that name, or if `values` has another size
  virtual void read_moment(const std::string& name, std::span<float> values) const = 0;
  // Number of updates so far, including those before a resume().
  virtual std::int64_t updates() const = 0;

  // Continues from a checkpoint: asks `source` for each parameter, buffer and moment. `updates` is the value of
  // updates() that the checkpoint stores. Engine::restart() still goes back to the initial weights.
  // @throws what `source` throws
  virtual void resume(const WeightSource& source, std::int64_t updates) = 0;
};

}  // namespace chexbench::engine
