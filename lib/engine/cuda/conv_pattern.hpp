// What is computed in one go with a convolution. Each fused pattern saves a pass over a feature map.
#pragma once

#include <span>
#include <string>

#include "engine/cuda/conv_shape.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

// x and y are input and output of the convolution, w its weights; norm(x) = relu(scale x + bias) per channel, a batch
// norm whose statistics are known.
enum class ConvPattern {
  forward,                        // y
  data_gradient,                  // dx
  weight_gradient,                // dw
  forward_statistics,             // y, and the sums of y and y^2 per channel
  normalized_forward,             // y of norm(x)
  normalized_forward_statistics,  // both
  data_gradient_norm,             // dx through the relu of norm(x), and the sums that the batch norm's backward needs
  normalized_weight_gradient,     // dw for norm(x)
};

std::span<const ConvPattern> conv_patterns();
std::string to_string(ConvPattern pattern);
bool is_fused(ConvPattern pattern);

// Whether the engine would use `pattern` for a convolution of this shape. The fused ones are for fp16: cuDNN 9.19 has
// none of those with sums in other types, and none for several groups. It has none with sums for strided outputs
// either, where a norm before the convolution alone is left. tests/engine/cuda/conv_plans_test.cpp asks cuDNN for every
// pattern that is wanted.
bool wanted(ConvPattern pattern, const ConvShape& shape, spec::Precision precision);

}  // namespace chexbench::engine::cuda
