// The operations that cuDNN computes together with a convolution in one plan, the tensors that they read and write, and
// the request for such a plan. Each fused pattern saves a pass over a feature map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_shape.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// x is the input of the convolution, y its output, and w its weights; dx, dy and dw are their gradients. norm(x) =
// relu(scale x + bias) per channel is a batch norm with a ReLU, whose statistics are known. A residual join is
// relu(scale x + bias + residual), which two nodes read; the data gradient that comes last in backward adds the
// gradient from the other one. The comments list the results of a pattern.
enum class ConvPattern {
  forward,                          // y
  data_gradient,                    // dx
  weight_gradient,                  // dw
  forward_statistics,               // y, and the sums of y and y^2 per channel
  normalized_forward,               // y from norm(x) instead of x
  normalized_forward_statistics,    // y from norm(x), and the sums of y and y^2 per channel
  data_gradient_norm,               // dx after the ReLU of norm(x), and the sums for the batch norm's backward
  data_gradient_join,               // dx + the other gradient, after the ReLU of a join, and the sums for its norm
  data_gradient_join_norms,         // the same, where the residual is a norm without ReLU, and the sums of both norms
  normalized_weight_gradient,       // dw from norm(x) instead of x
  joined_forward_statistics,        // y from a join instead of x, the join's result, and the sums of y and y^2
  joined_norms_forward_statistics,  // the same, where the residual is a norm without ReLU
};

inline constexpr std::size_t kConvPatterns = static_cast<std::size_t>(ConvPattern::joined_norms_forward_statistics) + 1;

// A pass of a convolution, and what precedes the convolution and is computed in the same pass.
enum class ConvPass { forward, data_gradient, weight_gradient };
enum class ConvBefore { nothing, norm, join, join_of_norms };

struct PatternParts {
  const char* name;  // the enumerator's
  ConvPass pass;
  ConvBefore before = ConvBefore::nothing;
  bool sums = false;  // of y and y^2
};
const PatternParts& parts_of(ConvPattern pattern);

// Returns all patterns, the plain ones first.
std::span<const ConvPattern> conv_patterns();
// Returns the enumerator's name, which is part of the keys in the cache of plans.
std::string to_string(ConvPattern pattern);
// Returns whether `pattern` computes anything besides the convolution.
bool is_fused(ConvPattern pattern);
// Returns whether `pattern` computes a residual join, forward or backward.
bool is_join(ConvPattern pattern);
// Returns whether `pattern` computes a join whose residual is a norm.
bool is_join_of_norms(ConvPattern pattern);

// Returns whether the engine would use `pattern` for a convolution of this shape. Fused patterns are used only in
// fp16 and with one group: cuDNN 9.19 has no plans with sums for other types, and no fused plans for several groups.
// It also has no plans with sums for strided outputs; there, the only fused pattern is normalized_forward, which
// cuDNN compiles at run time (half a second a plan). Nor does it have plans with a norm before a weight gradient whose
// input is a slice. A convolution with a join must have stride 1.
// tests/engine/cuda/convolution/conv_plans_test.cpp asks cuDNN for every pattern for which this returns true.
bool wanted(ConvPattern pattern, const ConvShape& shape, spec::Precision precision);

// The convolutions of a network that may compute the residual join before them.
struct JoinShapes {
  std::vector<ConvShape> all;       // with repetitions
  std::vector<ConvShape> of_norms;  // those where the residual is a norm's result

  // Returns whether `pattern`, a join, may be useful for a convolution of this shape.
  bool has(ConvPattern pattern, const ConvShape& shape) const;
};

// Returns the shapes of residual_joins() of a program that was lowered from `graph`, for batches of `images`.
// @throws DeviceError if the engine cannot compute the network
JoinShapes join_shapes(const model::Graph& graph, const Program& program, int images);

// Everything that decides which plans cuDNN offers on a device, and which of them are allowed.
struct PlanRequest {
  ConvPattern pattern = ConvPattern::forward;
  ConvShape shape;
  spec::Precision precision = spec::Precision::f32;
  std::int64_t workspace_limit_bytes = std::int64_t{1} << 30;  // plans that need more are not considered
  bool deterministic = false;                                  // only plans with the same bits in every run

  // For people: "weight_gradient of n256 64x56x56 -> 256 k1 s1 in fp16".
  std::string text() const;
};

// The role of a tensor in a pattern; no pattern has two tensors of the same role.
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
  // For a residual join (see ConvPattern): the addend of norm(x), and the gradient that is added to dx.
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
