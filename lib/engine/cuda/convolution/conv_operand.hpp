// The tensors that a convolution and its fused operations read and write.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda {

// The role of a tensor in a pattern; no pattern has two tensors of the same role. The names are explained in
// conv_pattern.hpp.
enum class OperandRole {
  x,
  w,
  y,
  dx,
  dw,
  dy,
  // These have one value per channel. The next four belong to the norm before the convolution. If the norm is only
  // applied, norm(x) = relu(scale x + bias); if its backward is computed too, norm(x) = relu(scale inverse_deviation
  // (x - mean) + bias).
  scale,
  bias,
  mean,
  inverse_deviation,  // 1 / sqrt(variance + epsilon)
  // Sums over all rows of y.
  sum,
  sum_of_squares,
  // Results of that norm's backward. The gradient of its x is dx_per_dy dx + dx_per_x x + dx_offset, in which dx is
  // the tensor of role dx above.
  scale_gradient,
  bias_gradient,
  dx_per_dy,
  dx_per_x,
  dx_offset,
  // For a residual join (conv_pattern.hpp): the addend of norm(x), and the gradient that is added to dx.
  residual,
  other_gradient,
  joined,  // the join's result
  // The norm whose result is the residual: its input, and as above its parameters and results. dx is the gradient of
  // both norms' results.
  residual_x,
  residual_mean,
  residual_inverse_deviation,
  residual_scale,
  residual_bias,
  residual_scale_gradient,
  residual_bias_gradient,
  residual_dx_per_dy,
  residual_dx_per_x,
  residual_dx_offset,
};
// Returns the enumerator's name.
std::string to_string(OperandRole role);

// The roles of a norm whose backward is computed.
struct NormRoles {
  OperandRole x, mean, inverse_deviation, scale, bias;
  std::array<OperandRole, 5> results;
};
inline constexpr NormRoles kNormRoles{OperandRole::x,
                                      OperandRole::mean,
                                      OperandRole::inverse_deviation,
                                      OperandRole::scale,
                                      OperandRole::bias,
                                      {OperandRole::scale_gradient, OperandRole::bias_gradient, OperandRole::dx_per_dy,
                                       OperandRole::dx_per_x, OperandRole::dx_offset}};
// The same for the norm whose result is the residual.
inline constexpr NormRoles kResidualNormRoles{
    OperandRole::residual_x,
    OperandRole::residual_mean,
    OperandRole::residual_inverse_deviation,
    OperandRole::residual_scale,
    OperandRole::residual_bias,
    {OperandRole::residual_scale_gradient, OperandRole::residual_bias_gradient, OperandRole::residual_dx_per_dy,
     OperandRole::residual_dx_per_x, OperandRole::residual_dx_offset}};

// A tensor that a plan reads or writes. Its elements lie in rows of `row_bytes`, one for each pixel, that begin every
// `pitch_bytes`; the gaps between rows belong to other tensors.
struct Operand {
  OperandRole role = OperandRole::x;
  std::size_t bytes = 0;  // a multiple of pitch_bytes
  FloatType type = FloatType::f32;
  std::size_t row_bytes = 0;
  std::size_t pitch_bytes = 0;
  bool is_result = false;
};

// The device memory of an operand; not owned.
struct OperandMemory {
  OperandRole role = OperandRole::x;
  void* data = nullptr;
};

}  // namespace chexbench::engine::cuda
