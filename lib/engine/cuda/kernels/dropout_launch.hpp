// Dropout on the device: dropout.hpp.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda::kernels {

// to = what is kept of `from`, which may be the same memory: values in forward, their gradients in backward.
struct DropoutCall {
  ElementType type = ElementType::f32;
  int images = 0, channels = 0;
  int pixels = 1;  // of an image
  Matrix from, to;
  const StepScalars* scalars = nullptr;  // of the step under way, before launch_decide()
  std::uint64_t seed = 0;                // dropout_seed() of engine/dropout.hpp
  int batches_of_step = 1;
  int layer = 0;    // of the graph
  double rate = 0;  // the share that is dropped
};
void launch_dropout(const DropoutCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
