// Activations, the same as in the CPU engine.
#pragma once

#include "engine/cuda/kernels/host_device.hpp"

namespace chexbench::engine::cuda::kernels {

// y = min(max(v, low), high). ReLU is (0, infinity); no activation is (-infinity, infinity).
struct Clamp {
  float low = 0;
  float high = 0;
};

// Returns the clamped value. Comparisons with NaN are false, so in this form NaN stays NaN, as in PyTorch: a failed
// training must be visible.
CHEXBENCH_HOST_DEVICE inline float clamped(float value, Clamp clamp) {
  value = value < clamp.low ? clamp.low : value;
  return value > clamp.high ? clamp.high : value;
}

// Returns the gradient if low < value < high or if value is NaN, else 0.
CHEXBENCH_HOST_DEVICE inline float passed(float gradient, float value, Clamp clamp) {
  return value <= clamp.low || value >= clamp.high ? 0.0f : gradient;
}

}  // namespace chexbench::engine::cuda::kernels
