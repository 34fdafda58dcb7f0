// Launches dropout on the device (dropout.hpp).
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda::kernels {

// Computes `to` = `from` times the dropout factors: values in forward, their gradients in backward. `to` and `from` may
// be the same memory.
struct DropoutCall {
  FloatType type = FloatType::f32;
  int images = 0, channels = 0;
  int pixels = 1;  // Of an image.
  Matrix from, to;
  const StepScalars* scalars = nullptr;  // Of the current step, before launch_decide().
  std::uint64_t seed = 0;                // From dropout_seed() of engine/dropout.hpp.
  int batches_of_step = 1;
  int layer = 0;    // Layer of the graph.
  double rate = 0;  // Share of values that is dropped.
};
void launch_dropout(const DropoutCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
