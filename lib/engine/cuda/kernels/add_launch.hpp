// Launches sums of feature maps on the device (add.hpp).
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

// Adds `from` to `to`, both [rows][channels].
struct AddCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix from, to;
};
void launch_add(const AddCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
