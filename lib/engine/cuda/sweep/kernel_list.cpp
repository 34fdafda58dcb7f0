#include "engine/cuda/sweep/kernel_list.hpp"

#include <algorithm>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/device_regions.hpp"
#include "engine/cuda/program/element_type.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/parameter_layout.hpp"
#include "engine/cuda/program/prologue.hpp"

namespace chexbench::engine::cuda {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

class KernelList {
 public:
  KernelList(const model::Graph& graph, int images, spec::Precision precision)
      : graph_(graph),
        images_(images),
        precision_(precision),
        type_(element_type(precision)),
        program_(lower(graph, {.dropout = true})),
        norms_(prologue_norms(program_)) {}

  std::vector<KernelUse> run() {
    add({.kernel = Kernel::upload_gray,
         .type = type_,
         .items = rows(program_.input),
         .channels = program_.input.channels});
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) add_forward(static_cast<int>(i));
    add_loss();
    for (const BackwardStep& step : backward_order(program_)) add_backward(step);
    add_update();
    add_other_settings();
    return std::move(uses_);
  }

 private:
  const Node& node(int i) const { return program_.nodes[index(i)]; }
  std::int64_t rows(const Slice& slice) const { return std::int64_t{images_} * program_.buffer(slice).pixels(); }
  int ld(const Slice& slice) const { return slice.exists() ? program_.buffer(slice).channels : 0; }

  void add(const KernelCall& call, int runs = 1) { add(call, runs, runs); }
  void add(const KernelCall& call, int runs, int fused_runs) {
    auto use = std::ranges::find_if(uses_, [&](const KernelUse& known) { return same(known.call, call); });
    if (use == uses_.end()) use = uses_.insert(use, {.call = call});
    use->runs += runs;
    use->fused_runs += fused_runs;
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
  // Of those kernels, only affine writes elements of the activations' type.
  KernelCall per_channel(Kernel kernel, int channels) const {
    return {.kernel = kernel, .type = kernel == Kernel::affine ? type_ : kernels::ElementType::f32, .items = channels};
  }

  // Whether convolution i may compute what `pattern` says of the norm that it alone reads.
  bool takes(int i, ConvPattern pattern) const { return norms_[index(i)] >= 0 && may_fuse(i, pattern); }
  bool may_fuse(int i, ConvPattern pattern) const {
    return node(i).kind == NodeKind::convolution &&
           wanted(pattern, conv_shape(graph_, program_, node(i), images_), precision_);
  }
  // The convolution that reads norm i and computes `pattern` with it; -1 if there is none.
  bool is_taken(int norm, ConvPattern pattern) const {
    const auto reader = std::ranges::find(norms_, norm);
    return reader != norms_.end() && may_fuse(static_cast<int>(reader - norms_.begin()), pattern);
  }

  void add_forward(int i) {
    const Node& of = node(i);
    if (is_pool(of.kind)) return add_pool(of, false);
    switch (of.kind) {
      case NodeKind::statistics:
        return add_statistics(i);
      case NodeKind::normalize:
        return add_norm(i);
      case NodeKind::bias:
        return add(activated(Kernel::bias, of));
      case NodeKind::dropout:
        return add_dropout(of);
      default:
        return;  // convolutions and linear layers are not kernels of our own
    }
  }

  void add_statistics(int i) {
    const Slice& in = node(i).in;
    const bool after = i > 0 && node(i - 1).out == in;
    const bool fused = after && (may_fuse(i - 1, ConvPattern::forward_statistics) ||
                                 takes(i - 1, ConvPattern::normalized_forward_statistics));
    add(call(Kernel::statistics, in), 1, fused ? 0 : 1);
    if (fused) add(per_channel(Kernel::moments, in.channels), 0, 1);
  }

  void add_norm(int i) {
    const bool fused = is_taken(i, ConvPattern::normalized_forward_statistics);
    const Kernel kernel = node(i).residual.exists() ? Kernel::normalize_residual : Kernel::normalize;
    add(activated(kernel, node(i)), 1, fused ? 0 : 1);
    if (fused) add(per_channel(Kernel::affine, node(i).in.channels), 0, 1);
  }

  void add_dropout(const Node& of) {
    KernelCall dropout = call(Kernel::dropout, of.in, of.out);
    dropout.items = images_;
    dropout.pool = {.height = program_.buffer(of.in).pixels(), .width = 1};  // it is told no more of an image
    add(dropout);
  }

  void add_pool(const Node& of, bool backward) {
    const Buffer &in = program_.buffer(of.in), &out = program_.buffer(of.out);
    const bool windows = of.kind == NodeKind::max_pool || of.kind == NodeKind::average_pool;
    const model::Layer& layer = graph_.layers[index(of.layer)];
    KernelCall pool = call(Kernel::max_pool, of.in, of.out);
    pool.items = images_;
    pool.pool = {.height = in.height, .width = in.width, .out_height = out.height, .out_width = out.width};
    if (windows) {
      pool.pool.kernel = layer.kernel;
      pool.pool.stride = layer.stride;
      pool.pool.padding = layer.padding;
    }
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
    if (step.two && of.kind != NodeKind::normalize) add(call(Kernel::add, of.out, of.out));
    if (is_pool(of.kind)) return add_pool(of, true);
    switch (of.kind) {
      case NodeKind::statistics:
        return add(call(Kernel::lazy_apply, of.in));
      case NodeKind::normalize:
        return step.lazy ? add(activated(step.first ? Kernel::lazy_accumulate_first : Kernel::lazy_accumulate, of))
                         : add_norm_backward(step);
      case NodeKind::bias:
        return add(activated(Kernel::bias_backward, of));
      case NodeKind::dropout:
        return add_dropout(of);
      case NodeKind::convolution:
        if (step.in != Target::none && takes(step.node, ConvPattern::data_gradient_norm))
          add(per_channel(Kernel::inverse_deviation, of.in.channels), 0, 1);
        return;
      default:
        return;
    }
  }

  void add_norm_backward(const BackwardStep& step) {
    const Node& of = node(step.node);
    const bool residual = of.residual.exists(), summed = is_taken(step.node, ConvPattern::data_gradient_norm);
    const Kernel sums = residual ? (step.two ? Kernel::gradient_sums_residual_two : Kernel::gradient_sums_residual)
                                 : (step.two ? Kernel::gradient_sums_two : Kernel::gradient_sums);
    add(activated(sums, of), 1, summed ? 0 : 1);
    KernelCall masked = call(Kernel::gradient_apply_masked, of.in, residual ? of.residual : of.out);
    if (residual) return add(masked);
    add(activated(step.two ? Kernel::gradient_apply_two : Kernel::gradient_apply, of), 1, summed ? 0 : 1);
    if (summed) add(masked, 0, 1);
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
      use(KernelCall{.type = kind == ParameterKind::matrix ? type_ : kernels::ElementType::f32,
                     .items = static_cast<std::int64_t>(parameters.size(kind))});
    }
  }

  void add_other_settings() {
    KernelCall color = uses_.front().call;
    color.kernel = Kernel::upload_color;
    add(color, 0);
    for_parameters([&](KernelCall of) {
      for (const Kernel kernel : {Kernel::sgd, Kernel::accumulate_first, Kernel::accumulate, Kernel::average}) {
        of.kernel = kernel;
        add(of, 0);
      }
      if (of.type == kernels::ElementType::f32) return;
      of.kernel = Kernel::copy_weights;
      add(of, 0);
    });
    add({.kernel = Kernel::end_batch}, 0);
    add({.kernel = Kernel::set_learning_rate}, 0);
  }

  const model::Graph& graph_;
  const int images_;
  const spec::Precision precision_;
  const kernels::ElementType type_;
  const Program program_;
  const std::vector<int> norms_;
  std::vector<KernelUse> uses_;
};

}  // namespace

std::vector<KernelUse> kernel_list(const model::Graph& graph, int images, spec::Precision precision) {
  return KernelList(graph, images, precision).run();
}

}  // namespace chexbench::engine::cuda
