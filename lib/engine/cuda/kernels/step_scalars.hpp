// Values that a step decides on the device, so that the host need not wait for them: whether gradients overflowed, the
// loss scale, and the optimizer's step. One thread computes them, after the gradients' reduction and before the update
// (Update::run() has the order).
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

// State in device memory. Initialize it with a copy of a default-constructed StepScalars.
struct StepScalars {
  float loss_scale = 65536;     // PyTorch GradScaler's initial value; 1 if the loss is not scaled.
  std::int32_t good_steps = 0;  // Since the scale last changed.
  std::int32_t overflow = 0;    // Set by the overflow check of this step's gradients.
  std::int32_t skip = 0;        // Whether this step's update is skipped.
  std::int32_t skipped = 0;     // Number of updates skipped so far.
  std::int32_t step = 0;        // Number of updates made.
  std::int32_t batches = 0;     // Finished batches of the current step; its last batch resets this.
  float learning_rate = 0;      // Of the next update. It is here because a graph's arguments are fixed.
  double beta1_power = 1;       // beta1^step.
  double beta2_power = 1;
  double gradient_squares = 0;  // Sum of the squares of this step's gradients, if they are clipped.
  float unscale = 1;            // Factor that takes the loss scale off gradients.
  float update_factor = 1;      // The same times the clipping factor; only the update uses it.
  float adam_rate = 0;          // Learning rate / (1 - beta1^step).
  float adam_root = 0;          // 1 / sqrt(1 - beta2^step).
};

// Returns the number of the current batch, counted from 0 since the start of training, if each step has
// `batches_of_step` batches.
CHEXBENCH_HOST_DEVICE inline std::int64_t batches_begun(const StepScalars& scalars, int batches_of_step) {
  return (std::int64_t{scalars.step} + scalars.skipped) * batches_of_step + scalars.batches;
}

// Constants that decide() uses.
struct StepRules {
  bool dynamic_scale = false;
  float gradient_factor = 1;  // 1 / world if gradients are sums over ranks, 1 if they are means.
  float beta1 = 0.9f, beta2 = 0.999f;
  float clip_norm = 0;  // The largest norm of all gradients; 0: no limit.
};

// Returns the factor that brings gradients whose sum of squares is `squares` down to the limit, once they have been
// multiplied by `unscale`, as torch.nn.utils.clip_grad_norm_ does.
CHEXBENCH_HOST_DEVICE inline float clipping(double squares, float unscale, float clip_norm) {
  const double factor = static_cast<double>(clip_norm) / (sqrt(squares) * static_cast<double>(unscale) + 1e-6);
  return factor < 1 ? static_cast<float>(factor) : 1.0f;
}

// Dynamic loss scaling: Micikevicius et al., "Mixed precision training", ICLR 2018, with the constants of PyTorch's
// GradScaler.
inline constexpr float kScaleGrowth = 2.0f;
inline constexpr float kScaleBackoff = 0.5f;
inline constexpr std::int32_t kGrowthInterval = 2000;

// Keeps the scale within [1, 2^31]: repeated overflow would bring it to 0, whose inverse makes every weight NaN.
CHEXBENCH_HOST_DEVICE inline void update_scale(StepScalars& scalars) {
  if (scalars.overflow != 0) {
    const float less = scalars.loss_scale * kScaleBackoff;
    scalars.loss_scale = less < 1.0f ? 1.0f : less;
    scalars.good_steps = 0;
  } else if (++scalars.good_steps >= kGrowthInterval) {
    const float more = scalars.loss_scale * kScaleGrowth;
    scalars.loss_scale = more > 2147483648.0f ? 2147483648.0f : more;
    scalars.good_steps = 0;
  }
}

// Counts the update and computes Adam's bias corrections as torch.optim.Adam does.
CHEXBENCH_HOST_DEVICE inline void advance_optimizer(StepScalars& scalars, const StepRules& rules) {
  ++scalars.step;
  scalars.beta1_power *= static_cast<double>(rules.beta1);
  scalars.beta2_power *= static_cast<double>(rules.beta2);
  scalars.adam_rate = static_cast<float>(static_cast<double>(scalars.learning_rate) / (1.0 - scalars.beta1_power));
  scalars.adam_root = static_cast<float>(1.0 / sqrt(1.0 - scalars.beta2_power));
}

// Decides whether this step's update is skipped, and prepares the scalars for the update and for the next step.
CHEXBENCH_HOST_DEVICE inline void decide(StepScalars& scalars, const StepRules& rules) {
  scalars.batches = 0;
  scalars.unscale = rules.gradient_factor / scalars.loss_scale;  // With the scale that this step's loss had.
  scalars.update_factor = scalars.unscale;
  if (rules.clip_norm > 0)
    scalars.update_factor *= clipping(scalars.gradient_squares, scalars.unscale, rules.clip_norm);
  scalars.skip = scalars.overflow != 0 ? 1 : 0;  // Even without loss scaling: NaN must not reach the weights.
  if (rules.dynamic_scale) update_scale(scalars);
  if (scalars.skip != 0) {
    ++scalars.skipped;
  } else {
    advance_optimizer(scalars, rules);
  }
  // Without dynamic scaling no smaller scale can help, so `overflow` stays set: all later updates are skipped too, and
  // the weights stay those that produced the overflow.
  if (rules.dynamic_scale) scalars.overflow = 0;
}

// One call.
struct SetLearningRate {
  StepScalars* scalars = nullptr;
  float rate = 0;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t) const { scalars->learning_rate = rate; }
};

// One call.
struct EndBatch {
  StepScalars* scalars = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t) const { ++scalars->batches; }
};

// One call.
struct Decide {
  StepScalars* scalars = nullptr;
  StepRules rules;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t) const { decide(*scalars, rules); }
};

// Counts a finished batch that is not the last one of its step.
void launch_end_batch(StepScalars* scalars, Stream stream);
// Sets the learning rate of all updates that are queued after this call. It is a kernel because a copy from the host's
// stack would wait for all queued work.
void launch_set_learning_rate(StepScalars* scalars, float rate, Stream stream);
// Runs decide() of step_scalars.hpp; to be queued after all overflow checks of a step and before its updates.
void launch_decide(StepScalars* scalars, const StepRules& rules, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
