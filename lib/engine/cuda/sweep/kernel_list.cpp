#include "engine/cuda/sweep/kernel_list.hpp"

#include <algorithm>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/device_regions.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/parameter_layout.hpp"
#include "engine/cuda/program/precision.hpp"

namespace chexbench::engine::cuda {
namespace {

// The kind of step. With `fused`, training.fused is true and every fused plan that the engine knows for the precision
// is taken; without, it is false, so that all passes are separate.
struct StepKind {
  int images = 0;
  spec::Precision precision = spec::Precision::f32;
  bool fused = false;
};

// Returns the program of a training step of that kind, with dropout.
Program step_program(const model::Graph& graph, const StepKind& kind) {
  const Program program = lower(graph, {.dropout = true, .fuses_pools = kind.fused});
  return with_packed_outputs(program, [&](const Node& conv) {
    const ConvShape packed = with_packed_output(conv_shape(graph, program, conv, kind.images));
    return kind.fused && wanted(ConvPattern::normalized_forward_statistics, packed, kind.precision);
  });
}

// The parts of neighbouring norms that convolutions compute in a step, as far as the program decides it; they determine
// the kernels that the engine leaves out or launches in another way. Keeps references to the graph and the program,
// which is step_program()'s.
class FusedParts {
 public:
  FusedParts(const model::Graph& graph, const Program& program, const StepKind& kind)
      : graph_(graph),
        program_(program),
        kind_(kind),
        norms_(prologue_norms(program)),
        joins_(chosen_joins(program, where(ConvPattern::data_gradient_join),
                            where(ConvPattern::data_gradient_join_norms), {})),
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

  // Whether a convolution writes the sums from which statistics node i computes mean and variance.
  bool has_output_sums(int i) const {
    if (i == 0 || !(node(i - 1).out == node(i).in)) return false;
    const int writer = node(i - 1).kind == NodeKind::copy ? i - 2 : i - 1;
    return forward_joins_[static_cast<std::size_t>(writer)].norm >= 0 ||
           fuses(node(writer), ConvPattern::forward_statistics) ||
           takes(writer, ConvPattern::normalized_forward_statistics);
  }
  // Whether statistics node i does the remaining work of the norm after it, in the same launch.
  bool writes_affine(int i) const {
    const Node& next = node(i + 1);
    return has_output_sums(i) && next.kind == NodeKind::normalize && next.in == node(i).in && is_left_out(i + 1);
  }
  // Whether a data gradient reads the inverse deviation that statistics node i writes.
  bool has_inverse_deviation(int i) const { return inverse_deviations_[static_cast<std::size_t>(i)]; }
  // Whether a convolution computes norm i while it reads its input, alone or in a join.
  bool is_left_out(int norm) const {
    return is_taken(norm, ConvPattern::normalized_forward_statistics) ||
           std::ranges::any_of(forward_joins_, [norm](const ResidualJoin& join) {
             return join.norm == norm || join.residual_norm == norm;
           });
  }
  // Whether a data gradient computes the sums of norm i that have no join.
  bool has_gradient_sums(int norm) const { return is_taken(norm, ConvPattern::data_gradient_norm); }
  // The joins that data gradients compute, for backward_order().
  const std::vector<ResidualJoin>& joins() const { return joins_; }

 private:
  const Node& node(int i) const { return program_.nodes[static_cast<std::size_t>(i)]; }
  // Whether the node is a convolution that computes `pattern`.
  bool fuses(const Node& conv, ConvPattern pattern) const {
    return kind_.fused && conv.kind == NodeKind::convolution &&
           wanted(pattern, conv_shape(graph_, program_, conv, kind_.images), kind_.precision);
  }
  // Whether convolution i computes `pattern`'s part of the norm that it alone reads.
  bool takes(int i, ConvPattern pattern) const {
    return norms_[static_cast<std::size_t>(i)] >= 0 && fuses(node(i), pattern);
  }
  // Whether a convolution does so with that norm.
  bool is_taken(int norm, ConvPattern pattern) const {
    const auto reader = std::ranges::find(norms_, norm);
    return reader != norms_.end() && fuses(node(static_cast<int>(reader - norms_.begin())), pattern);
  }
  // Whether a join is computed by `pattern`.
  TakesJoin where(ConvPattern pattern) const {
    return [this, pattern](const Node& conv) { return fuses(conv, pattern); };
  }
  void mark_statistics_of(int norm) {
    if (norm < 0) return;
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& other = program_.nodes[i];
      if (other.kind == NodeKind::statistics && other.in == node(norm).in) inverse_deviations_[i] = true;
    }
  }

  const model::Graph& graph_;
  const Program& program_;
  const StepKind kind_;
  const std::vector<int> norms_;  // that each node may compute
  const std::vector<ResidualJoin> joins_, forward_joins_;
  std::vector<bool> inverse_deviations_;
};

std::size_t index(int i) { return static_cast<std::size_t>(i); }

struct Count {
  KernelCall call;
  int runs = 0;
};

// The calls of one step.
class StepCalls {
 public:
  StepCalls(const model::Graph& graph, const StepKind& kind)
      : graph_(graph),
        program_(step_program(graph, kind)),
        images_(kind.images),
        type_(element_type(kind.precision)),
        fused_(graph, program_, kind) {}

  std::vector<Count> run() {
    add({.kernel = Kernel::upload_gray,
         .type = type_,
         .items = rows(program_.input),
         .channels = program_.input.channels});
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) add_forward(static_cast<int>(i));
    add_loss();
    for (const BackwardStep& step : backward_order(program_, fused_.joins())) add_backward(step);
    add_update();
    add_other_settings();
    return std::move(counts_);
  }

 private:
  const Node& node(int i) const { return program_.nodes[index(i)]; }
  std::int64_t rows(const Slice& slice) const { return std::int64_t{images_} * program_.buffer(slice).pixels(); }
  int ld(const Slice& slice) const { return slice.exists() ? program_.buffer(slice).channels : 0; }

  void add(const KernelCall& call, int runs = 1) {
    auto count = std::ranges::find_if(counts_, [&](const Count& known) { return same(known.call, call); });
    if (count == counts_.end()) count = counts_.insert(count, {.call = call});
    count->runs += runs;
  }

  KernelCall call(Kernel kernel, const Slice& in, const Slice& out = {}, const Slice& residual = {}) const {
    return {.kernel = kernel,
            .type = type_,
            .items = rows(in),
            .channels = in.channels,
            .in_ld = ld(in),
            .out_ld = ld(out),
            .residual_ld = ld(residual)};
  }
  KernelCall activated(Kernel kernel, const Node& of) const {
    KernelCall result = call(kernel, of.in, of.out, of.residual);
    result.activation = of.activation;
    return result;
  }
  // Among those kernels, only those of scale and shift write elements of the activations' type.
  KernelCall per_channel(Kernel kernel, int channels) const {
    const bool writes_affine = kernel == Kernel::affine || kernel == Kernel::moments_and_affine;
    return {.kernel = kernel, .type = writes_affine ? type_ : FloatType::f32, .items = channels};
  }

  void add_forward(int i) {
    const Node& of = node(i);
    switch (of.kind) {
      case NodeKind::statistics:
        return add_statistics(i);
      case NodeKind::normalize:
        return add_norm(i);
      case NodeKind::bias:
        return add(activated(Kernel::bias, of));
      case NodeKind::dropout:
        return add_dropout(of);
      case NodeKind::copy:
        return add(call(Kernel::copy, of.in, of.out));
      case NodeKind::convolution:
      case NodeKind::linear:
        return;  // none of our kernels
      case NodeKind::max_pool:
      case NodeKind::average_pool:
      case NodeKind::global_average_pool:
      case NodeKind::adaptive_average_pool:
        return add_pool(of, false);
    }
  }

  void add_statistics(int i) {
    const Slice& in = node(i).in;
    const Kernel moments = fused_.writes_affine(i) ? Kernel::moments_and_affine : Kernel::moments;
    KernelCall statistics =
        fused_.has_output_sums(i) ? per_channel(moments, in.channels) : call(Kernel::statistics, in);
    statistics.inverse_deviation = fused_.has_inverse_deviation(i);
    add(statistics);
  }

  void add_norm(int i) {
    const Node& of = node(i);
    if (of.pool.exists()) return add(pooled(has_winners(of) ? Kernel::norm_max_pool : Kernel::norm_average_pool, of));
    if (!fused_.is_left_out(i))
      return add(activated(of.residual.exists() ? Kernel::normalize_residual : Kernel::normalize, of));
    const bool is_written = node(i - 1).kind == NodeKind::statistics && fused_.writes_affine(i - 1);
    if (!is_written) add(per_channel(Kernel::affine, of.in.channels));
  }

  void add_dropout(const Node& of) {
    KernelCall dropout = call(Kernel::dropout, of.in, of.out);
    dropout.items = images_;
    dropout.pool = {.height = program_.buffer(of.in).pixels(), .width = 1};  // it gets no more about an image
    add(dropout);
  }

  kernels::PoolShape pool_shape(const Node& of) const {
    const Buffer &in = program_.buffer(of.in), &out = program_.buffer(of.out);
    return {.height = in.height, .width = in.width, .out_height = out.height, .out_width = out.width};
  }
  // A pool whose window is that of a layer.
  kernels::PoolShape windows(const Node& of, int layer_of_window) const {
    const model::Layer& layer = graph_.layers[index(layer_of_window)];
    kernels::PoolShape shape = pool_shape(of);
    shape.kernel = layer.kernel;
    shape.stride = layer.stride;
    shape.padding = layer.padding;
    return shape;
  }
  // A call of a norm with a pool.
  KernelCall pooled(Kernel kernel, const Node& of) const {
    KernelCall result = activated(kernel, of);
    result.items = images_;
    result.pool = windows(of, of.pool.layer);
    return result;
  }

  void add_pool(const Node& of, bool backward) {
    const bool has_windows = of.kind == NodeKind::max_pool || of.kind == NodeKind::average_pool;
    KernelCall pool = call(Kernel::max_pool, of.in, of.out);
    pool.items = images_;
    pool.pool = has_windows ? windows(of, of.layer) : pool_shape(of);
    if (of.kind == NodeKind::max_pool) pool.kernel = backward ? Kernel::max_pool_backward : Kernel::max_pool;
    if (of.kind == NodeKind::average_pool)
      pool.kernel = backward ? Kernel::average_pool_backward : Kernel::average_pool;
    if (of.kind == NodeKind::global_average_pool)
      pool.kernel = backward ? Kernel::global_average_backward : Kernel::global_average;
    if (of.kind == NodeKind::adaptive_average_pool)
      pool.kernel = backward ? Kernel::adaptive_average_backward : Kernel::adaptive_average;
    add(pool);
  }

  void add_loss() {
    add({.kernel = Kernel::loss,
         .type = type_,
         .items = images_,
         .channels = program_.logits.channels,
         .outputs = graph_.layers.back().channels});
  }

  void add_backward(const BackwardStep& step) {
    const Node& of = node(step.node);
    for (const auto& [slice, target] : {std::pair{of.residual, step.residual}, std::pair{of.in, step.in}})
      if (target == Target::second_again) add(call(Kernel::add, slice, slice));
    if (step.two && (of.kind != NodeKind::normalize || of.pool.exists())) add(call(Kernel::add, of.out, of.out));
    switch (of.kind) {
      case NodeKind::statistics:
        return add(call(Kernel::lazy_apply, of.in));
      case NodeKind::copy:
        return add(call(Kernel::lazy_apply_packed, of.out, of.in));
      case NodeKind::normalize:
        if (of.pool.exists()) return add_pooled_norm_backward(step);
        return step.lazy ? add(activated(step.first ? Kernel::lazy_accumulate_first : Kernel::lazy_accumulate, of))
                         : add_norm_backward(step);
      case NodeKind::bias:
        return add(activated(Kernel::bias_backward, of));
      case NodeKind::dropout:
        return add_dropout(of);
      case NodeKind::convolution:
      case NodeKind::linear:
        return;
      case NodeKind::max_pool:
      case NodeKind::average_pool:
      case NodeKind::global_average_pool:
      case NodeKind::adaptive_average_pool:
        return add_pool(of, true);
    }
  }

  void add_norm_backward(const BackwardStep& step) {
    const Node& of = node(step.node);
    const bool residual = of.residual.exists(), summed = step.joined || fused_.has_gradient_sums(step.node);
    const Kernel sums = residual ? (step.two ? Kernel::gradient_sums_residual_two : Kernel::gradient_sums_residual)
                                 : (step.two ? Kernel::gradient_sums_two : Kernel::gradient_sums);
    if (!summed) add(activated(sums, of));
    const Kernel apply = step.two ? Kernel::gradient_apply_two : Kernel::gradient_apply;
    add(residual || summed ? call(Kernel::gradient_apply_masked, of.in, residual ? of.residual : of.out)
                           : activated(apply, of));
  }

  void add_pooled_norm_backward(const BackwardStep& step) {
    const Node& of = node(step.node);
    const bool max = has_winners(of);
    if (step.lazy) return add(pooled(Kernel::average_pooled_lazy_accumulate, of));
    add(pooled(max ? Kernel::max_pooled_gradient_sums : Kernel::average_pooled_gradient_sums, of));
    add(pooled(max ? Kernel::max_pooled_gradient_apply : Kernel::average_pooled_gradient_apply, of));
  }

  void add_update() {
    if (const std::size_t channels = norm_offsets(program_).back(); channels > 0)
      add(per_channel(Kernel::running_update, static_cast<int>(channels)));
    for_parameters([&](KernelCall of) {
      of.kernel = Kernel::overflow_check;
      add(of);
    });
    add({.kernel = Kernel::decide});
    for_parameters([&](KernelCall of) {
      of.kernel = Kernel::adam;
      add(of);
    });
  }

  template <typename Use>
  void for_parameters(const Use& use) const {
    const ParameterLayout parameters(graph_, program_);
    for (const ParameterKind kind : {ParameterKind::matrix, ParameterKind::vector}) {
      if (parameters.size(kind) == 0) continue;
      use(KernelCall{.type = kind == ParameterKind::matrix ? type_ : FloatType::f32,
                     .items = static_cast<std::int64_t>(parameters.size(kind))});
    }
  }

  void add_other_settings() {
    KernelCall color = counts_.front().call;
    for (const Kernel upload : {Kernel::upload_color, Kernel::upload_rgb}) {
      color.kernel = upload;
      add(color, 0);
    }
    for_parameters([&](KernelCall of) {
      for (const Kernel kernel : {Kernel::sgd, Kernel::accumulate_first, Kernel::accumulate, Kernel::average}) {
        of.kernel = kernel;
        add(of, 0);
      }
      if (of.type == FloatType::f32) return;
      of.kernel = Kernel::copy_weights;
      add(of, 0);
    });
    add({.kernel = Kernel::end_batch}, 0);
    add({.kernel = Kernel::set_learning_rate}, 0);
  }

  const model::Graph& graph_;
  const Program program_;
  const int images_;
  const FloatType type_;
  const FusedParts fused_;
  std::vector<Count> counts_;
};

}  // namespace

std::vector<KernelUse> kernel_list(const model::Graph& graph, int images, spec::Precision precision) {
  std::vector<KernelUse> uses;
  for (const Count& count : StepCalls(graph, {images, precision, false}).run())
    uses.push_back({.call = count.call, .runs = count.runs});
  for (const Count& count : StepCalls(graph, {images, precision, true}).run()) {
    auto use = std::ranges::find_if(uses, [&](const KernelUse& known) { return same(known.call, count.call); });
    if (use == uses.end()) use = uses.insert(use, {.call = count.call});
    use->fused_runs = count.runs;
  }
  return uses;
}

}  // namespace chexbench::engine::cuda
