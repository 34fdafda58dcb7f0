// The operations that cuDNN computes together with a convolution in one plan. Each fused pattern saves a pass over a
// feature map.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_shape.hpp"
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
// cuDNN compiles at run time (half a second a plan). A convolution with a join must have stride 1.
// tests/engine/cuda/convolution/conv_plans_test.cpp asks cuDNN for every pattern for which this returns true.
bool wanted(ConvPattern pattern, const ConvShape& shape, spec::Precision precision);

// Lists the convolutions of a network that may compute the residual join before them.

struct JoinShapes {
  std::vector<ConvShape> all;       // with repetitions
  std::vector<ConvShape> of_norms;  // those where the residual is a norm's result

  // Returns whether `pattern`, a join, may be useful for a convolution of this shape.
  bool has(ConvPattern pattern, const ConvShape& shape) const;
};

// Returns the shapes of residual_joins() of a program that was lowered from `graph`, for batches of `images`.
// @throws DeviceError if the engine cannot compute the network
JoinShapes join_shapes(const model::Graph& graph, const Program& program, int images);

}  // namespace chexbench::engine::cuda
