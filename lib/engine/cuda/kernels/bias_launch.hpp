// Launches bias and activation on the device (bias.hpp).
#pragma once

#include "engine/cuda/kernels/clamp.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

// Computes y = clamp(x + bias). y may be x.
struct BiasCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  const float* bias = nullptr;  // [channels]
  Clamp clamp;
};
void launch_bias(const BiasCall& call, const Matrix& x, const Matrix& y, Stream stream);

// Writes dx, the part of the gradient that passes the activation, and bias_gradient, the sum of dx over the rows. No
// two tensors may overlap.
struct BiasBackwardCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Clamp clamp;
  Matrix output;  // Does not exist if there is no activation.
  Matrix gradient;
  float* bias_gradient = nullptr;  // [channels]
  void* scratch = nullptr;         // As in norm_launch.hpp.
};
void launch_bias_backward(const BiasBackwardCall& call, const Matrix& dx, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
