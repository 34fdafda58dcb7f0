#include "engine/cuda/convolution/conv_operand.hpp"

namespace chexbench::engine::cuda {

std::string to_string(OperandRole role) {
  switch (role) {
    case OperandRole::x:
      return "x";
    case OperandRole::w:
      return "w";
    case OperandRole::y:
      return "y";
    case OperandRole::dx:
      return "dx";
    case OperandRole::dw:
      return "dw";
    case OperandRole::dy:
      return "dy";
    case OperandRole::scale:
      return "scale";
    case OperandRole::bias:
      return "bias";
    case OperandRole::mean:
      return "mean";
    case OperandRole::inverse_deviation:
      return "inverse_deviation";
    case OperandRole::sum:
      return "sum";
    case OperandRole::sum_of_squares:
      return "sum_of_squares";
    case OperandRole::scale_gradient:
      return "scale_gradient";
    case OperandRole::bias_gradient:
      return "bias_gradient";
    case OperandRole::dx_per_dy:
      return "dx_per_dy";
    case OperandRole::dx_per_x:
      return "dx_per_x";
    case OperandRole::dx_offset:
      return "dx_offset";
    case OperandRole::residual:
      return "residual";
    case OperandRole::other_gradient:
      return "other_gradient";
    case OperandRole::joined:
      return "joined";
    case OperandRole::residual_x:
      return "residual_x";
    case OperandRole::residual_mean:
      return "residual_mean";
    case OperandRole::residual_inverse_deviation:
      return "residual_inverse_deviation";
    case OperandRole::residual_scale:
      return "residual_scale";
    case OperandRole::residual_bias:
      return "residual_bias";
    case OperandRole::residual_scale_gradient:
      return "residual_scale_gradient";
    case OperandRole::residual_bias_gradient:
      return "residual_bias_gradient";
    case OperandRole::residual_dx_per_dy:
      return "residual_dx_per_dy";
    case OperandRole::residual_dx_per_x:
      return "residual_dx_per_x";
    case OperandRole::residual_dx_offset:
      return "residual_dx_offset";
  }
  return {};
}

}  // namespace chexbench::engine::cuda
