#include "engine/cuda/sweep/kernel_list.hpp"

#include <algorithm>

#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/device_regions.hpp"
#include "engine/cuda/program/parameter_layout.hpp"
#include "engine/cuda/program/precision.hpp"
#include "engine/cuda/sweep/kernel_call.hpp"

namespace chexbench::engine::cuda {
namespace {

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

namespace {

constexpr std::int64_t kPickedValues = 65536;
constexpr std::int64_t kLeastRows = 64, kLeastImages = 3;
constexpr std::int64_t kRun = 64;  // adjacent elements of flat arrays
constexpr int kVector = 8;

// Returns whether operands have several rows for each item, like those of pools.
bool takes_images(const std::vector<KernelOperand>& tensors) {
  return std::ranges::any_of(tensors, [](const KernelOperand& tensor) { return tensor.rows_per_item > 1; });
}

std::vector<ItemRange> spread_items(const KernelCall& call) {
  const std::vector<KernelOperand> tensors = operands(call);
  const bool images = takes_images(tensors);
  const std::int64_t run = call.channels <= 4 && !images ? kRun : 1;
  std::int64_t values = run;
  for (const KernelOperand& tensor : tensors)
    values = std::max(values, run * tensor.rows_per_item * std::int64_t{tensor.channels});
  const std::int64_t runs = std::max(kPickedValues / values, images ? kLeastImages : kLeastRows);
  if (runs * run >= call.items) return {{0, call.items}};
  std::vector<ItemRange> ranges;
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t begin = i * (call.items - run) / (runs - 1);
    ranges.push_back({begin, begin + run});
  }
  return ranges;
}

std::vector<int> spread_channels(int channels) {
  std::vector<int> spread;
  const int vectors = channels / kVector;
  for (int i = 0; i < std::min(channels, kVector); ++i)
    spread.push_back(vectors == 0 ? i : i * (vectors - 1) / (kVector - 1) * kVector + i);
  return spread;
}

}  // namespace

std::int64_t Selection::count() const {
  std::int64_t count = 0;
  for (const ItemRange& range : items) count += range.end - range.begin;
  return count;
}

std::vector<Selection> selections(const KernelCall& call) {
  if (traits_of(call.kernel).reach == Reach::all) return {{.items = {{0, call.items}}}};
  if (traits_of(call.kernel).reach != Reach::channel) return {{.items = spread_items(call)}};
  std::vector<Selection> all;
  const auto is_row_result = [](const KernelOperand& tensor) {
    return tensor.access != Access::read && tensor.rows_per_item > 0;
  };
  if (std::ranges::any_of(operands(call), is_row_result))
    all.push_back({.items = spread_items(call), .compares_sums = false});
  for (const int channel : spread_channels(call.channels))
    all.push_back({.items = {{0, call.items}}, .channel = channel, .compares_items = false});
  return all;
}

}  // namespace chexbench::engine::cuda
