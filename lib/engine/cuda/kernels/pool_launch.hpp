// Launches pools on the device; the formulas are in max_pool.hpp, average_pool.hpp and adaptive_pool.hpp. Windows of
// max and average pools are 2x2 or 3x3, with any stride; see pool_check.hpp for the padding.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/pool_window.hpp"

namespace chexbench::engine::cuda::kernels {

// In forward `x` and `y` are the pool's input and output, in backward the gradients of these. No two tensors may
// overlap.
struct PoolCall {
  FloatType type = FloatType::f32;
  int images = 0, channels = 0;
  PoolShape shape;
  Matrix x, y;
};

// The four functions below also throw DeviceError if check_pool() rejects the shape. `winner` is u8[output
// pixels][channels], packed: the place in each window that won. Forward writes it and backward reads it.
void launch_max_pool(const PoolCall& call, std::uint8_t* winner, Stream stream);
void launch_max_pool_backward(const PoolCall& call, const std::uint8_t* winner, Stream stream);
void launch_average_pool(const PoolCall& call, Stream stream);
void launch_average_pool_backward(const PoolCall& call, Stream stream);

// Averages whole images of shape.height x shape.width: y has one row for each image.
void launch_global_average(const PoolCall& call, Stream stream);
void launch_global_average_backward(const PoolCall& call, Stream stream);

// Averages over the windows that follow from the input and output sizes; kernel, stride and padding are ignored.
void launch_adaptive_average(const PoolCall& call, Stream stream);
void launch_adaptive_average_backward(const PoolCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
