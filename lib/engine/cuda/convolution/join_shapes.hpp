// Lists the convolutions of a network that may compute the residual join before them.
#pragma once

#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/convolution/conv_shape.hpp"

namespace chexbench::engine::cuda {

struct JoinShapes {
  std::vector<ConvShape> all;       // with repetitions
  std::vector<ConvShape> of_norms;  // those where the residual is a norm's result

  // Returns whether a convolution of this shape may have a use for `pattern`, which is a join.
  bool has(ConvPattern pattern, const ConvShape& shape) const;
};

// Returns the shapes behind residual_joins() of a program that was lowered from `graph`, for batches of `images`.
// @throws DeviceError if the engine cannot compute the network
JoinShapes join_shapes(const model::Graph& graph, const Program& program, int images);

}  // namespace chexbench::engine::cuda
