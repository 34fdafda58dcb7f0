#include "engine/cuda/sweep/fused_parts.hpp"

#include <algorithm>

#include "engine/cuda/program/dense_packing.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/prologue.hpp"

namespace chexbench::engine::cuda {

Program step_program(const model::Graph& graph, const StepKind& kind) {
  const Program program = lower(graph, {.dropout = true, .fuses_pools = kind.fused});
  return with_packed_outputs(program, [&](const Node& conv) {
    const ConvShape packed = with_packed_output(conv_shape(graph, program, conv, kind.images));
    return kind.fused && wanted(ConvPattern::normalized_forward_statistics, packed, kind.precision);
  });
}

FusedParts::FusedParts(const model::Graph& graph, const Program& program, const StepKind& kind)
    : graph_(graph),
      program_(program),
      kind_(kind),
      norms_(prologue_norms(program)),
      joins_(chosen_joins(program, where(ConvPattern::data_gradient_join), where(ConvPattern::data_gradient_join_norms),
                          {})),
      forward_joins_(chosen_joins(program, where(ConvPattern::joined_forward_statistics),
                                  where(ConvPattern::joined_norms_forward_statistics), joins_)),
      inverse_deviations_(program.nodes.size()) {
  for (int i = 0; i < static_cast<int>(norms_.size()); ++i) {
    if (takes(i, ConvPattern::data_gradient_norm)) mark_statistics_of(norms_[static_cast<std::size_t>(i)]);
  }
  for (const ResidualJoin& join : joins_) {
    mark_statistics_of(join.norm);
    mark_statistics_of(join.residual_norm);
  }
}

TakesJoin FusedParts::where(ConvPattern pattern) const {
  return [this, pattern](const Node& conv) { return fuses(conv, pattern); };
}

bool FusedParts::is_left_out(int norm) const {
  return is_taken(norm, ConvPattern::normalized_forward_statistics) ||
         std::ranges::any_of(forward_joins_, [norm](const ResidualJoin& join) {
           return join.norm == norm || join.residual_norm == norm;
         });
}

void FusedParts::mark_statistics_of(int norm) {
  if (norm < 0) return;
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& other = program_.nodes[i];
    if (other.kind == NodeKind::statistics && other.in == node(norm).in) inverse_deviations_[i] = true;
  }
}

// Whether the node is a convolution that computes `pattern`.
bool FusedParts::fuses(const Node& conv, ConvPattern pattern) const {
  return kind_.fused && conv.kind == NodeKind::convolution &&
         wanted(pattern, conv_shape(graph_, program_, conv, kind_.images), kind_.precision);
}

// Whether convolution i computes what `pattern` says of the norm that it alone reads.
bool FusedParts::takes(int i, ConvPattern pattern) const {
  return norms_[static_cast<std::size_t>(i)] >= 0 && fuses(node(i), pattern);
}

// Whether a convolution does so with that norm.
bool FusedParts::is_taken(int norm, ConvPattern pattern) const {
  const auto reader = std::ranges::find(norms_, norm);
  return reader != norms_.end() && fuses(node(static_cast<int>(reader - norms_.begin())), pattern);
}

bool FusedParts::has_output_sums(int i) const {
  if (i == 0 || !(node(i - 1).out == node(i).in)) return false;
  const int writer = node(i - 1).kind == NodeKind::copy ? i - 2 : i - 1;
  return forward_joins_[static_cast<std::size_t>(writer)].norm >= 0 ||
         fuses(node(writer), ConvPattern::forward_statistics) ||
         takes(writer, ConvPattern::normalized_forward_statistics);
}

bool FusedParts::writes_affine(int i) const {
  const Node& next = node(i + 1);
  return has_output_sums(i) && next.kind == NodeKind::normalize && next.in == node(i).in && is_left_out(i + 1);
}

}  // namespace chexbench::engine::cuda
