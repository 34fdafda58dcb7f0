// The end of a step: from gradients that are averaged over ranks to new weights.
#pragma once

#include "engine/cuda/addresses.hpp"
#include "engine/cuda/kernels/step_launch.hpp"
#include "engine/cuda/stream.hpp"

namespace chexbench::engine::cuda {

// What dynamic loss scaling has come to.
struct LossScale {
  float scale = 1;
  std::int32_t good_steps = 0, skipped = 0;
};

// Adam's beta 0.9 and 0.999, epsilon 1e-8, or SGD with momentum; dynamic loss scaling for fp16. `addresses` must
// outlive it. Nothing waits, everything may be captured.
class Update {
 public:
  Update(const Addresses& addresses, const spec::TrainingSpec& training);

  // Loss scale, step and moments as at the begin.
  void restart(Stream stream);
  // Of the steps that are queued from now on.
  void set_learning_rate(double rate, Stream stream);
  // As behind so many updates; of what is kept beside the moments only the loss scale is not known by their number.
  void resume(std::int64_t updates, const LossScale& scale, Stream stream);
  void run(Stream stream);
  // From the f32 weights to the copies that forward and backward read: after weights were loaded.
  void refresh_copies(Stream stream);

  // Whether an overflow is part of training: else gradients that are not finite are the end of it.
  bool scales_loss() const { return rules_.dynamic_scale; }

 private:
  kernels::UpdateCall call(ParameterKind kind) const;
  kernels::StepScalars* scalars() const;

  const Addresses& addresses_;
  const spec::TrainingSpec training_;
  const kernels::StepRules rules_;
  kernels::StepScalars initial_;
};

}  // namespace chexbench::engine::cuda
