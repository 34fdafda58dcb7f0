// Launches copies of feature maps on the device (copy.hpp).
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

// Copies `from` to `to`, both [rows][channels]. They must not overlap.
struct CopyCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix from, to;
};
void launch_copy(const CopyCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
