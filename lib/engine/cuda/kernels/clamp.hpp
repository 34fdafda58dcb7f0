// Activations, as the CPU engine's.
#pragma once

#include "engine/cuda/kernels/host_device.hpp"

namespace chexbench::engine::cuda::kernels {

// y = min(max(v, low), high): ReLU is (0, infinity), none (-infinity, infinity).
struct Clamp {
  float low = 0;
  float high = 0;
};

// A comparison with NaN is false: asked this way round, NaN stays NaN, as in PyTorch. Training that went wrong must
// show.
CHEXBENCH_HOST_DEVICE inline float clamped(float value, Clamp clamp) {
  value = value < clamp.low ? clamp.low : value;
  return value > clamp.high ? clamp.high : value;
}

// The gradient passes where low < value < high, and where value is NaN.
CHEXBENCH_HOST_DEVICE inline float passed(float gradient, float value, Clamp clamp) {
  return value <= clamp.low || value >= clamp.high ? 0.0f : gradient;
}

}  // namespace chexbench::engine::cuda::kernels
