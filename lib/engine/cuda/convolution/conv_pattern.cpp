#include "engine/cuda/convolution/conv_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/program/conv_fusions.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

// In the order of the enumerators.
constexpr std::array kParts{
    PatternParts{"forward", ConvPass::forward},
    PatternParts{"data_gradient", ConvPass::data_gradient},
    PatternParts{"weight_gradient", ConvPass::weight_gradient},
    PatternParts{"forward_statistics", ConvPass::forward, ConvBefore::nothing, true},
    PatternParts{"normalized_forward", ConvPass::forward, ConvBefore::norm},
    PatternParts{"normalized_forward_statistics", ConvPass::forward, ConvBefore::norm, true},
    PatternParts{"data_gradient_norm", ConvPass::data_gradient, ConvBefore::norm},
    PatternParts{"data_gradient_join", ConvPass::data_gradient, ConvBefore::join},
    PatternParts{"data_gradient_join_norms", ConvPass::data_gradient, ConvBefore::join_of_norms},
    PatternParts{"normalized_weight_gradient", ConvPass::weight_gradient, ConvBefore::norm},
    PatternParts{"joined_forward_statistics", ConvPass::forward, ConvBefore::join, true},
    PatternParts{"joined_norms_forward_statistics", ConvPass::forward, ConvBefore::join_of_norms, true},
};
static_assert(kParts.size() == kConvPatterns);

constexpr std::array kPatterns = [] {
  std::array<ConvPattern, kConvPatterns> patterns{};
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<ConvPattern>(i);
  return patterns;
}();

// In the order of the enumerators.
constexpr std::array kRoles{"x",
                            "w",
                            "y",
                            "dx",
                            "dw",
                            "dy",
                            "scale",
                            "bias",
                            "mean",
                            "inverse_deviation",
                            "sum",
                            "sum_of_squares",
                            "scale_gradient",
                            "bias_gradient",
                            "dx_per_dy",
                            "dx_per_x",
                            "dx_offset",
                            "residual",
                            "other_gradient",
                            "joined",
                            "residual_x",
                            "residual_mean",
                            "residual_inverse_deviation",
                            "residual_scale",
                            "residual_bias",
                            "residual_scale_gradient",
                            "residual_bias_gradient",
                            "residual_dx_per_dy",
                            "residual_dx_per_x",
                            "residual_dx_offset"};
static_assert(kRoles.size() == static_cast<std::size_t>(OperandRole::residual_dx_offset) + 1);

}  // namespace

const PatternParts& parts_of(ConvPattern pattern) { return kParts[static_cast<std::size_t>(pattern)]; }

std::span<const ConvPattern> conv_patterns() { return kPatterns; }

std::string to_string(ConvPattern pattern) { return parts_of(pattern).name; }

std::string to_string(OperandRole role) { return kRoles[static_cast<std::size_t>(role)]; }

bool is_fused(ConvPattern pattern) { return parts_of(pattern).before != ConvBefore::nothing || parts_of(pattern).sums; }

bool is_join(ConvPattern pattern) { return parts_of(pattern).before >= ConvBefore::join; }

bool is_join_of_norms(ConvPattern pattern) { return parts_of(pattern).before == ConvBefore::join_of_norms; }

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

std::string PlanRequest::text() const {
  return fmt::format("{} of {} in {}", to_string(pattern), shape.text(), spec::to_string(precision));
}

}  // namespace chexbench::engine::cuda
