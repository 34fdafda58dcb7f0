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

struct Count {
  KernelCall call;
  int runs = 0;
};

// The calls of one step of a program. With `fused`, convolutions compute all that they may of the norms beside them.
class StepCalls {
 public:
  StepCalls(const model::Graph& graph, const Program& program, int images, spec::Precision precision, bool fused)
      : graph_(graph),
        program_(program),
        images_(images),
        precision_(precision),
        fused_(fused),
        type_(element_type(precision)),
        norms_(prologue_norms(program)) {}

  std::vector<Count> run() {
    add({.kernel = Kernel::upload_gray,
         .type = type_,
         .items = rows(program_.input),
         .channels = program_.input.channels});
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) add_forward(static_cast<int>(i));
    add_loss();
    for (const BackwardStep& step : backward_order(program_)) add_backward(step);
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
  // Of those kernels, only affine writes elements of the activations' type.
  KernelCall per_channel(Kernel kernel, int channels) const {
    return {.kernel = kernel, .type = kernel == Kernel::affine ? type_ : kernels::ElementType::f32, .items = channels};
  }

  // Whether node i is a convolution that computes `pattern`.
  bool fuses(int i, ConvPattern pattern) const {
    return fused_ && node(i).kind == NodeKind::convolution &&
           wanted(pattern, conv_shape(graph_, program_, node(i), images_), precision_);
  }
  // Whether convolution i computes what `pattern` says of the norm that it alone reads.
  bool takes(int i, ConvPattern pattern) const { return norms_[index(i)] >= 0 && fuses(i, pattern); }
  // Whether a convolution does so with norm i.
  bool is_taken(int norm, ConvPattern pattern) const {
    const auto reader = std::ranges::find(norms_, norm);
    return reader != norms_.end() && fuses(static_cast<int>(reader - norms_.begin()), pattern);
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
      case NodeKind::convolution:
      case NodeKind::linear:
        return;  // no kernels of our own
      case NodeKind::max_pool:
      case NodeKind::average_pool:
      case NodeKind::global_average_pool:
      case NodeKind::adaptive_average_pool:
        return add_pool(of, false);
    }
  }

  void add_statistics(int i) {
    const Slice& in = node(i).in;
    const bool follows = i > 0 && node(i - 1).out == in;
    const bool fused = follows && (fuses(i - 1, ConvPattern::forward_statistics) ||
                                   takes(i - 1, ConvPattern::normalized_forward_statistics));
    add(fused ? per_channel(Kernel::moments, in.channels) : call(Kernel::statistics, in));
  }

  void add_norm(int i) {
    if (is_taken(i, ConvPattern::normalized_forward_statistics))
      return add(per_channel(Kernel::affine, node(i).in.channels));
    add(activated(node(i).residual.exists() ? Kernel::normalize_residual : Kernel::normalize, node(i)));
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
          add(per_channel(Kernel::inverse_deviation, of.in.channels));
        return;
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
    const bool residual = of.residual.exists(), summed = is_taken(step.node, ConvPattern::data_gradient_norm);
    const Kernel sums = residual ? (step.two ? Kernel::gradient_sums_residual_two : Kernel::gradient_sums_residual)
                                 : (step.two ? Kernel::gradient_sums_two : Kernel::gradient_sums);
    if (!summed) add(activated(sums, of));
    const Kernel apply = step.two ? Kernel::gradient_apply_two : Kernel::gradient_apply;
    add(residual || summed ? call(Kernel::gradient_apply_masked, of.in, residual ? of.residual : of.out)
                           : activated(apply, of));
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
    KernelCall color = counts_.front().call;
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
  const Program& program_;
  const int images_;
  const spec::Precision precision_;
  const bool fused_;
  const kernels::ElementType type_;
  const std::vector<int> norms_;
  std::vector<Count> counts_;
};

}  // namespace

std::vector<KernelUse> kernel_list(const model::Graph& graph, int images, spec::Precision precision) {
  const Program program = lower(graph, {.dropout = true});
  std::vector<KernelUse> uses;
  for (const Count& count : StepCalls(graph, program, images, precision, false).run())
    uses.push_back({.call = count.call, .runs = count.runs});
  for (const Count& count : StepCalls(graph, program, images, precision, true).run()) {
    auto use = std::ranges::find_if(uses, [&](const KernelUse& known) { return same(known.call, count.call); });
    if (use == uses.end()) use = uses.insert(use, {.call = count.call});
    use->fused_runs = count.runs;
  }
  return uses;
}

}  // namespace chexbench::engine::cuda
