#include "engine/cuda/convolution/conv_pattern.hpp"

#include <algorithm>
#include <array>

#include "engine/cuda/program/residual_join.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

constexpr std::array kPatterns{ConvPattern::forward,
                               ConvPattern::data_gradient,
                               ConvPattern::weight_gradient,
                               ConvPattern::forward_statistics,
                               ConvPattern::normalized_forward,
                               ConvPattern::normalized_forward_statistics,
                               ConvPattern::data_gradient_norm,
                               ConvPattern::data_gradient_join,
                               ConvPattern::data_gradient_join_norms,
                               ConvPattern::normalized_weight_gradient,
                               ConvPattern::joined_forward_statistics,
                               ConvPattern::joined_norms_forward_statistics};

}  // namespace

std::span<const ConvPattern> conv_patterns() { return kPatterns; }

std::string to_string(ConvPattern pattern) {
  switch (pattern) {
    case ConvPattern::forward:
      return "forward";
    case ConvPattern::data_gradient:
      return "data_gradient";
    case ConvPattern::weight_gradient:
      return "weight_gradient";
    case ConvPattern::forward_statistics:
      return "forward_statistics";
    case ConvPattern::normalized_forward:
      return "normalized_forward";
    case ConvPattern::normalized_forward_statistics:
      return "normalized_forward_statistics";
    case ConvPattern::data_gradient_norm:
      return "data_gradient_norm";
    case ConvPattern::data_gradient_join:
      return "data_gradient_join";
    case ConvPattern::data_gradient_join_norms:
      return "data_gradient_join_norms";
    case ConvPattern::normalized_weight_gradient:
      return "normalized_weight_gradient";
    case ConvPattern::joined_forward_statistics:
      return "joined_forward_statistics";
    case ConvPattern::joined_norms_forward_statistics:
      return "joined_norms_forward_statistics";
  }
  return {};
}

bool is_fused(ConvPattern pattern) {
  return pattern != ConvPattern::forward && pattern != ConvPattern::data_gradient &&
         pattern != ConvPattern::weight_gradient;
}

bool is_join(ConvPattern pattern) {
  return pattern == ConvPattern::data_gradient_join || pattern == ConvPattern::joined_forward_statistics ||
         is_join_of_norms(pattern);
}

bool is_join_of_norms(ConvPattern pattern) {
  return pattern == ConvPattern::data_gradient_join_norms || pattern == ConvPattern::joined_norms_forward_statistics;
}

bool wanted(ConvPattern pattern, const ConvShape& shape, Precision precision) {
  if (pattern == ConvPattern::forward || pattern == ConvPattern::weight_gradient) return true;
  if (shape.reads_images) return false;  // there is no norm before it, and its gradient is not needed
  if (!is_fused(pattern)) return true;
  if (precision != Precision::fp16 || shape.groups > 1) return false;
  if (is_join(pattern) && shape.stride > 1) return false;
  return pattern == ConvPattern::normalized_forward ? !shape.packed() : shape.packed();
}

bool JoinShapes::has(ConvPattern pattern, const ConvShape& shape) const {
  return std::ranges::count(is_join_of_norms(pattern) ? of_norms : all, shape) > 0;
}

JoinShapes join_shapes(const model::Graph& graph, const Program& program, int images) {
  JoinShapes shapes;
  const std::vector<ResidualJoin> joins = residual_joins(program);
  for (std::size_t i = 0; i < joins.size(); ++i) {
    if (joins[i].norm < 0) continue;
    shapes.all.push_back(conv_shape(graph, program, program.nodes[i], images));
    if (joins[i].residual_norm >= 0) shapes.of_norms.push_back(shapes.all.back());
  }
  return shapes;
}

}  // namespace chexbench::engine::cuda
