// The tensors of a convolution, and of what is fused with it.
#pragma once

#include <cstddef>
#include <string>

namespace chexbench::engine::cuda {

// What a tensor is to the pattern; no pattern has two of one role. Names as in conv_pattern.hpp.
enum class OperandRole {
  x,
  w,
  y,
  dx,
  dw,
  dy,
  // One value per channel. Of the norm before the convolution: where that is only applied, norm(x) = relu(scale x +
  // bias); where its backward is wanted too, norm(x) = relu(scale inverse_deviation (x - mean) + bias).
  scale,
  bias,
  mean,
  inverse_deviation,  // 1 / sqrt(variance + epsilon)
  // Of y.
  sum,
  sum_of_squares,
  // Of that norm's backward: its x has the gradient dx_per_dy dx + dx_per_x x + dx_offset, dx being the one above.
  scale_gradient,
  bias_gradient,
  dx_per_dy,
  dx_per_x,
  dx_offset,
};
std::string to_string(OperandRole role);

// A tensor that a plan reads or writes.
struct Operand {
  OperandRole role = OperandRole::x;
  std::size_t bytes = 0;
};

// Where an operand lies on the device.
struct OperandMemory {
  OperandRole role = OperandRole::x;
  void* data = nullptr;
};

}  // namespace chexbench::engine::cuda
