#include "engine/cuda/sweep/kernel_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr KernelTraits kTraits[] = {
    {Kernel::statistics, "statistics", KernelGroup::norm, Reach::channel},
    {Kernel::moments, "moments", KernelGroup::norm, Reach::all},
    {Kernel::running_update, "running_update", KernelGroup::norm, Reach::all},
    {Kernel::moments_and_affine, "moments_and_affine", KernelGroup::norm, Reach::all},
    {Kernel::affine, "affine", KernelGroup::norm, Reach::all},
    {Kernel::normalize, "normalize", KernelGroup::norm},
    {Kernel::normalize_residual, "normalize_residual", KernelGroup::norm},
    {Kernel::gradient_sums, "gradient_sums", KernelGroup::norm_backward, Reach::channel},
    {Kernel::gradient_sums_two, "gradient_sums_two", KernelGroup::norm_backward, Reach::channel},
    {Kernel::gradient_sums_residual, "gradient_sums_residual", KernelGroup::norm_backward, Reach::channel},
    {Kernel::gradient_sums_residual_two, "gradient_sums_residual_two", KernelGroup::norm_backward, Reach::channel},
    {Kernel::gradient_apply, "gradient_apply", KernelGroup::norm_backward},
    {Kernel::gradient_apply_two, "gradient_apply_two", KernelGroup::norm_backward},
    {Kernel::gradient_apply_masked, "gradient_apply_masked", KernelGroup::norm_backward},
    {Kernel::lazy_accumulate_first, "lazy_accumulate_first", KernelGroup::norm_backward, Reach::channel},
    {Kernel::lazy_accumulate, "lazy_accumulate", KernelGroup::norm_backward, Reach::channel},
    {Kernel::lazy_apply, "lazy_apply", KernelGroup::norm_backward},
    {Kernel::lazy_apply_packed, "lazy_apply_packed", KernelGroup::norm_backward},
    {Kernel::norm_max_pool, "norm_max_pool", KernelGroup::norm_pool},
    {Kernel::norm_average_pool, "norm_average_pool", KernelGroup::norm_pool},
    {Kernel::max_pooled_gradient_sums, "max_pooled_gradient_sums", KernelGroup::norm_pool, Reach::channel},
    {Kernel::average_pooled_gradient_sums, "average_pooled_gradient_sums", KernelGroup::norm_pool, Reach::channel},
    {Kernel::max_pooled_gradient_apply, "max_pooled_gradient_apply", KernelGroup::norm_pool},
    {Kernel::average_pooled_gradient_apply, "average_pooled_gradient_apply", KernelGroup::norm_pool},
    {Kernel::average_pooled_lazy_accumulate, "average_pooled_lazy_accumulate", KernelGroup::norm_pool, Reach::channel},
    {Kernel::max_pool, "max_pool", KernelGroup::pool},
    {Kernel::max_pool_backward, "max_pool_backward", KernelGroup::pool},
    {Kernel::average_pool, "average_pool", KernelGroup::pool},
    {Kernel::average_pool_backward, "average_pool_backward", KernelGroup::pool},
    {Kernel::global_average, "global_average", KernelGroup::pool},
    {Kernel::global_average_backward, "global_average_backward", KernelGroup::pool},
    {Kernel::adaptive_average, "adaptive_average", KernelGroup::pool},
    {Kernel::adaptive_average_backward, "adaptive_average_backward", KernelGroup::pool},
    {Kernel::bias, "bias", KernelGroup::layer},
    {Kernel::bias_backward, "bias_backward", KernelGroup::layer, Reach::channel},
    {Kernel::dropout, "dropout", KernelGroup::layer, Reach::all},
    {Kernel::add, "add", KernelGroup::layer},
    {Kernel::copy, "copy", KernelGroup::layer},
    {Kernel::upload_gray, "upload_gray", KernelGroup::layer},
    {Kernel::upload_color, "upload_color", KernelGroup::layer},
    {Kernel::upload_rgb, "upload_rgb", KernelGroup::layer},
    {Kernel::loss, "loss", KernelGroup::layer, Reach::all},
    {Kernel::accumulate_first, "accumulate_first", KernelGroup::step},
    {Kernel::accumulate, "accumulate", KernelGroup::step},
    {Kernel::average, "average", KernelGroup::step},
    {Kernel::end_batch, "end_batch", KernelGroup::step},
    {Kernel::overflow_check, "overflow_check", KernelGroup::step},
    {Kernel::set_learning_rate, "set_learning_rate", KernelGroup::step},
    {Kernel::decide, "decide", KernelGroup::step},
    {Kernel::adam, "adam", KernelGroup::step},
    {Kernel::sgd, "sgd", KernelGroup::step},
    {Kernel::copy_weights, "copy_weights", KernelGroup::step},
};

constexpr auto kKernels = [] {
  std::array<Kernel, std::size(kTraits)> all{};
  std::ranges::transform(kTraits, all.begin(), &KernelTraits::kernel);
  return all;
}();

std::string pool_text(const kernels::PoolShape& pool) {
  if (pool.height == 0) return {};
  std::string text = fmt::format(" of {}x{}", pool.height, pool.width);
  if (pool.out_height > 0) text += fmt::format(" to {}x{}", pool.out_height, pool.out_width);
  if (pool.kernel > 0) text += fmt::format(" k{} s{} p{}", pool.kernel, pool.stride, pool.padding);
  return text;
}

}  // namespace

std::span<const Kernel> all_kernels() { return kKernels; }

const KernelTraits& traits_of(Kernel kernel) { return *std::ranges::find(kTraits, kernel, &KernelTraits::kernel); }

std::string to_string(Kernel kernel) { return traits_of(kernel).name; }

std::string shape_text(const KernelCall& call) {
  constexpr const char* kActivations[] = {"", " relu", " relu6"};
  constexpr const char* kTypes[] = {" f32", " f16", " bf16"};
  std::string text = fmt::format("{}x{}", call.items, call.channels) + pool_text(call.pool);
  const auto add_ld = [&](const char* of, int ld) {
    if (ld != 0 && ld != call.channels) text += fmt::format(" {} /{}", of, ld);
  };
  add_ld("in", call.in_ld);
  add_ld("out", call.out_ld);
  add_ld("residual", call.residual_ld);
  if (call.outputs > 0) text += fmt::format(" outputs {}", call.outputs);
  if (call.inverse_deviation) text += " with 1/deviation";
  return text + kActivations[static_cast<int>(call.activation)] + kTypes[static_cast<int>(call.type)];
}

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

// Whether convolution i computes `pattern`'s part of the norm that it alone reads.
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
