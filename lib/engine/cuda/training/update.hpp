// The end of a step: computes new weights from gradients that are averaged over the ranks.
#pragma once

#include "engine/cuda/kernels/optimizer.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// The state of dynamic loss scaling, as in checkpoints: the loss scale, the steps without an overflow since it last
// changed, and the updates skipped so far.
struct LossScale {
  float scale = 1;
  std::int32_t good_steps = 0, skipped = 0;
};

// Updates by Adam or AdamW with betas 0.9 and 0.999 and epsilon 1e-8, or by SGD with momentum; with weight decay,
// clipping and a moving average of the weights if the spec enables them, and with dynamic loss scaling in fp16. Calls
// queue work and wait for nothing, and run() may be captured into a CUDA graph. `addresses` must outlive this object.
// Not thread-safe. All functions that take a stream @throws DeviceError if CUDA reports an error
class Update {
 public:
  Update(const Addresses& addresses, const spec::TrainingSpec& training);

  // Sets loss scale, step count, learning rate and moments to their values at the beginning of a training.
  void restart(Stream stream);
  // Sets the learning rate of the steps that are queued from now on.
  void set_learning_rate(double rate, Stream stream);
  // Sets the step's scalars to their values after `updates` updates. Everything but the loss scale follows from that
  // number; `scale` is used only if the loss is scaled. The moments are not touched.
  void resume(std::int64_t updates, const LossScale& scale, Stream stream);
  // Exchanges the weights with their moving average; refresh_copies() must follow. Does nothing if there is none.
  void swap_average(Stream stream);
  // Queues one update. The device skips it if a gradient is infinite or NaN.
  void run(Stream stream);
  // Copies the f32 weights to the copies that forward and backward read. Call it after weights were loaded.
  void refresh_copies(Stream stream);

  // Whether the loss is scaled, so that an overflow is a normal part of training. If not, gradients that are not
  // finite end the training.
  bool scales_loss() const { return rules_.dynamic_scale; }

 private:
  kernels::UpdateCall call(ParameterKind kind) const;
  void queue_norm(Stream stream) const;

  const Addresses& addresses_;
  const spec::TrainingSpec training_;
  const kernels::StepRules rules_;
  kernels::StepScalars initial_;
};

}  // namespace chexbench::engine::cuda
