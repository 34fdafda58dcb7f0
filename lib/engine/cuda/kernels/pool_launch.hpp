// Pools on the device: formulas in max_pool.hpp, average_pool.hpp, adaptive_pool.hpp. Windows of 2x2 and 3x3, any
// stride and padding.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/pool_window.hpp"

namespace chexbench::engine::cuda::kernels {

// `x` and `y` are the pool's input and output, or in backward their gradients. No two of the tensors may overlap.
struct PoolCall {
  ElementType type = ElementType::f32;
  int images = 0, channels = 0;
  PoolShape shape;
  Matrix x, y;
};

// `winner`: u8[output pixels][channels], packed.
void launch_max_pool(const PoolCall& call, std::uint8_t* winner, Stream stream);
void launch_max_pool_backward(const PoolCall& call, const std::uint8_t* winner, Stream stream);
void launch_average_pool(const PoolCall& call, Stream stream);
void launch_average_pool_backward(const PoolCall& call, Stream stream);

// Over whole images of shape.height x shape.width: y has one row for each image.
void launch_global_average(const PoolCall& call, Stream stream);
void launch_global_average_backward(const PoolCall& call, Stream stream);

// Over windows that the sizes alone give: kernel, stride and padding have no part.
void launch_adaptive_average(const PoolCall& call, Stream stream);
void launch_adaptive_average_backward(const PoolCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
