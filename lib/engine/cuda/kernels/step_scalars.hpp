// What a step decides on the device, so that the host need not wait for it: whether gradients overflowed, the loss
// scale, the optimizer's step. One thread's work, between the gradients' reduction and the update.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/cuda/kernels/host_device.hpp"

namespace chexbench::engine::cuda::kernels {

// Lives in device memory; start from a copy of this one.
struct StepScalars {
  float loss_scale = 65536;     // as PyTorch's GradScaler begins; 1 where nothing is scaled
  std::int32_t good_steps = 0;  // since the scale last changed
  std::int32_t overflow = 0;    // set by the check of this step's gradients
  std::int32_t skip = 0;        // this step's update is left out
  std::int32_t skipped = 0;     // updates left out so far
  std::int32_t step = 0;        // updates made
  std::int32_t batches = 0;     // of the step under way that are done: its last one decides
  float learning_rate = 0;      // of the update to come: here, since a captured step has the arguments of its capture
  double beta1_power = 1;       // beta1^step
  double beta2_power = 1;
  float unscale = 1;    // what gradients are multiplied by
  float adam_rate = 0;  // learning rate / (1 - beta1^step)
  float adam_root = 0;  // 1 / sqrt(1 - beta2^step)
};

// The number of the batch under way, counted from 0 since the start, where a step has so many of them.
CHEXBENCH_HOST_DEVICE inline std::int64_t batches_begun(const StepScalars& scalars, int batches_of_step) {
  return (std::int64_t{scalars.step} + scalars.skipped) * batches_of_step + scalars.batches;
}

struct StepRules {
  bool dynamic_scale = false;
  float gradient_factor = 1;  // 1 / world where gradients are sums over ranks, 1 where they are means
  float beta1 = 0.9f, beta2 = 0.999f;
};

// Micikevicius et al., "Mixed precision training", ICLR 2018, with the numbers of PyTorch's GradScaler.
inline constexpr float kScaleGrowth = 2.0f;
inline constexpr float kScaleBackoff = 0.5f;
inline constexpr std::int32_t kGrowthInterval = 2000;

// The scale never leaves [1, 2^31]: repeated overflow would bring it to 0, whose inverse makes every weight NaN.
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

// Bias corrections as torch.optim.Adam's.
CHEXBENCH_HOST_DEVICE inline void advance_optimizer(StepScalars& scalars, const StepRules& rules) {
  ++scalars.step;
  scalars.beta1_power *= static_cast<double>(rules.beta1);
  scalars.beta2_power *= static_cast<double>(rules.beta2);
  scalars.adam_rate = static_cast<float>(static_cast<double>(scalars.learning_rate) / (1.0 - scalars.beta1_power));
  scalars.adam_root = static_cast<float>(1.0 / sqrt(1.0 - scalars.beta2_power));
}

CHEXBENCH_HOST_DEVICE inline void decide(StepScalars& scalars, const StepRules& rules) {
  scalars.batches = 0;
  scalars.unscale = rules.gradient_factor / scalars.loss_scale;  // of the scale that this step's loss had
  scalars.skip = scalars.overflow != 0 ? 1 : 0;  // also where nothing is scaled: NaN must not reach the weights
  if (rules.dynamic_scale) update_scale(scalars);
  if (scalars.skip != 0) {
    ++scalars.skipped;
  } else {
    advance_optimizer(scalars, rules);
  }
  // Where no smaller scale can help, all later updates are left out too: the weights stay those that went wrong.
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

}  // namespace chexbench::engine::cuda::kernels
