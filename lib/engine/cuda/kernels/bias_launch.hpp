// Bias and activation on the device: bias.hpp.
#pragma once

#include "engine/cuda/kernels/clamp.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

// y = clamp(x + bias)
struct BiasCall {
  ElementType type = ElementType::f32;
  int rows = 0, channels = 0;
  const float* bias = nullptr;  // [channels]
  Clamp clamp;
};
void launch_bias(const BiasCall& call, const Matrix& x, const Matrix& y, Stream stream);

// dx = the gradient that passed the activation, and its sum over the rows is that of the bias. No two tensors may
// overlap.
struct BiasBackwardCall {
  ElementType type = ElementType::f32;
  int rows = 0, channels = 0;
  Clamp clamp;
  Matrix output;  // none where there is no activation
  Matrix gradient;
  float* bias_gradient = nullptr;  // [channels]
  void* scratch = nullptr;         // reduction_scratch_bytes()
};
void launch_bias_backward(const BiasBackwardCall& call, const Matrix& dx, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
