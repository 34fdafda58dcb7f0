#include <algorithm>
#include <utility>

#include "engine/cuda/kernels/elementwise.hpp"
#include "engine/cuda/kernels/norm_pool.hpp"
#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

using model::ParameterRole;

WeightGradientStream::WeightGradientStream(bool concurrent) {
  if (concurrent) beside_.emplace();
}

Stream WeightGradientStream::fork(Stream main) {
  if (!beside_) return main;
  beside_->forked.record(main);
  wait_for(beside_->stream.get(), beside_->forked);
  is_forked_ = true;
  return beside_->stream.get();
}

bool WeightGradientStream::join(Stream main) {
  if (!std::exchange(is_forked_, false)) return false;
  beside_->done.record(beside_->stream.get());
  wait_for(main, beside_->done);
  return true;
}

void Network::backward(Stream stream, const OnComplete& on_complete) {
  const std::vector<ParameterPlace>& places = addresses_.config().parameters.places();
  std::size_t complete[kParameterKinds] = {0, 0};
  auto next = places.begin();
  // Gradients are complete once the weight gradient on the other stream is, and every convolution joins that of the
  // previous one.
  const auto join = [&] {
    if (weight_gradients_.join(stream)) on_complete(complete[0], complete[1]);
  };
  for (const BackwardStep& step : order_) {
    const NodeKind kind = node(step.node).kind;
    if (kind == NodeKind::convolution) join();
    backward(step, stream);
    // These nodes share the layer of the node before them in the program, whose step completes the layer's gradients.
    if (kind == NodeKind::statistics || kind == NodeKind::bias || kind == NodeKind::copy) continue;
    const int layer = node(step.node).layer;
    const bool has_parameters = next != places.end() && next->parameter.layer == layer;
    for (; next != places.end() && next->parameter.layer == layer; ++next)
      complete[static_cast<std::size_t>(next->kind)] = next->offset + next->count;
    if (has_parameters && !weight_gradients_.is_forked()) on_complete(complete[0], complete[1]);
  }
  join();
}

void Network::backward(const BackwardStep& step, Stream stream) {
  const Node& node = this->node(step.node);
  make_room(node.residual, step.residual, stream);
  make_room(node.in, step.in, stream);
  if (step.two && (node.kind != NodeKind::normalize || node.pool.exists())) add_second_gradient(node.out, stream);
  switch (node.kind) {
    case NodeKind::convolution:
      return backward_convolution(step, stream);
    case NodeKind::statistics:
      return apply_lazy(node.in, addresses_.gradient(node.in), stream);
    case NodeKind::copy:
      return apply_lazy(node.out, addresses_.gradient(node.in, step.in), stream);
    case NodeKind::normalize:
      if (node.pool.exists()) return backward_pooled_norm(step, stream);
      return step.lazy ? backward_lazy_norm(step, stream) : backward_norm(step, stream);
    case NodeKind::bias:
      return backward_bias(step, stream);
    case NodeKind::max_pool:
    case NodeKind::average_pool:
    case NodeKind::global_average_pool:
    case NodeKind::adaptive_average_pool:
      return backward_pool(step, stream);
    case NodeKind::dropout:
      return drop(node, addresses_.gradient(node.out), addresses_.gradient(node.in, step.in), stream);
    case NodeKind::linear:
      return backward_linear(step, stream);
  }
}

void Network::make_room(const Slice& slice, Target target, Stream stream) {
  if (target == Target::second_again) add_second_gradient(slice, stream);
}

void Network::add_second_gradient(const Slice& slice, Stream stream) {
  kernels::launch_add({.type = addresses_.type(),
                       .rows = addresses_.rows(slice),
                       .channels = slice.channels,
                       .from = addresses_.gradient(slice, Target::second),
                       .to = addresses_.gradient(slice)},
                      stream);
}

void Network::backward_bias(const BackwardStep& step, Stream stream) {
  const Node& node = this->node(step.node);
  const ParameterPlace& bias = addresses_.config().parameters.place(node.layer, ParameterRole::bias);
  kernels::launch_bias_backward(
      {.type = addresses_.type(),
       .rows = addresses_.rows(node.out),
       .channels = node.out.channels,
       .clamp = addresses_.clamp(node),
       .output = node.activation == Activation::none ? kernels::Matrix{} : addresses_.activation(node.out),
       .gradient = addresses_.gradient(node.out),
       .bias_gradient = addresses_.vector_gradient(bias),
       .scratch = addresses_.at(addresses_.regions().reductions)},
      addresses_.gradient(node.in, step.in), stream);
}

kernels::NormGradientCall Network::norm_gradient(const BackwardStep& step) const {
  const Node& norm = node(step.node);
  kernels::NormGradientCall call{.type = addresses_.type(),
                                 .rows = addresses_.rows(norm.in),
                                 .channels = norm.in.channels,
                                 .x = addresses_.activation(norm.in),
                                 .gradient = addresses_.gradient(norm.out),
                                 .norm = addresses_.norm(step.node),
                                 .clamp = addresses_.clamp(norm)};
  if (step.two) call.gradient2 = addresses_.gradient(norm.out, Target::second);
  return call;
}

kernels::NormSums Network::norm_sums(const Node& norm) const {
  const Addresses::Config& config = addresses_.config();
  const DeviceRegions& regions = config.plan.regions;
  return {
      .weight_gradient = addresses_.vector_gradient(config.parameters.place(norm.layer, ParameterRole::norm_weight)),
      .bias_gradient = addresses_.vector_gradient(config.parameters.place(norm.layer, ParameterRole::norm_bias)),
      .b = addresses_.channels(regions.slope, norm.in),
      .c = addresses_.channels(regions.constant, norm.in),
      .frozen = config.frozen,
      .scratch = addresses_.at(regions.reductions)};
}

void Network::backward_norm(const BackwardStep& step, Stream stream) {
  const Node& norm = node(step.node);
  kernels::NormGradientCall call = norm_gradient(step);
  const kernels::NormSums sums = norm_sums(norm);
  const bool summed = step.joined || std::ranges::find(norms_before_, step.node) != norms_before_.end();
  const bool masked = norm.residual.exists() || summed;
  kernels::Matrix output, residual;
  if (norm.residual.exists()) {
    // Without an activation nothing is masked, and the output may be gone.
    output = norm.activation == Activation::none ? call.x : addresses_.activation(norm.out);
    residual = addresses_.gradient(norm.residual, step.residual);
  }
  if (!summed) kernels::launch_gradient_sums(call, output, residual, sums, stream);
  if (norm.residual.exists()) call.gradient = residual;
  kernels::launch_gradient_apply(call, masked, sums.b, sums.c, addresses_.gradient(norm.in, step.in), stream);
}

void Network::backward_lazy_norm(const BackwardStep& step, Stream stream) {
  const Node& norm = node(step.node);
  kernels::launch_lazy_accumulate(norm_gradient(step), addresses_.type(), addresses_.gradient(norm.in), step.first,
                                  norm_sums(norm), stream);
}

// If the gradient of the pool's output has two places, they have been added: the passes read it up to four times.
void Network::backward_pooled_norm(const BackwardStep& step, Stream stream) {
  const Node& norm = node(step.node);
  kernels::NormGradientCall call = norm_gradient(step);
  call.gradient2 = {};
  const kernels::NormSums sums = norm_sums(norm);
  const kernels::PoolBetween pool{addresses_.config().images, addresses_.pool(norm).shape,
                                  has_winners(norm) ? addresses_.winners(step.node) : nullptr};
  if (step.lazy) return kernels::launch_pooled_lazy_accumulate(call, pool, addresses_.gradient(norm.in), sums, stream);
  kernels::launch_pooled_gradient_sums(call, pool, sums, stream);
  kernels::launch_pooled_gradient_apply(call, pool, sums.b, sums.c, addresses_.gradient(norm.in, step.in), stream);
}

void Network::apply_lazy(const Slice& in_block, const kernels::Matrix& dx, Stream stream) {
  const DeviceRegions& regions = addresses_.regions();
  kernels::launch_lazy_apply({.type = addresses_.type(),
                              .total_type = addresses_.type(),
                              .rows = addresses_.rows(in_block),
                              .channels = in_block.channels,
                              .x = addresses_.activation(in_block),
                              .total = addresses_.gradient(in_block),
                              .dx = dx,
                              .b = addresses_.channels(regions.slope, in_block),
                              .c = addresses_.channels(regions.constant, in_block)},
                             stream);
}

NormBefore Network::norm_before(int norm_node, float* scratch) const {
  const kernels::NormParameters norm = addresses_.norm(norm_node);
  const kernels::NormSums sums = norm_sums(node(norm_node));
  const Slice& norm_in = node(norm_node).in;
  return {.x = addresses_.activation(norm_in).data,
          .mean = norm.mean,
          .inverse_deviation = addresses_.channels(addresses_.regions().inverse_deviation, norm_in),
          .weight = norm.weight,
          .bias = norm.bias,
          .weight_gradient = sums.weight_gradient,
          .bias_gradient = sums.bias_gradient,
          .b = sums.b,
          .c = sums.c,
          .scratch = scratch};
}

void Network::backward_data(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream) {
  const Node& conv = node(step.node);
  const int before = norms_before_[static_cast<std::size_t>(step.node)];
  convolutions_.data_gradient(shape, addresses_.gradient(conv.out).data, weight,
                              addresses_.gradient(conv.in, step.in).data,
                              before >= 0 ? norm_before(before, channel_row(0)) : NormBefore{}, stream);
}

void Network::backward_join(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream) {
  const Node &conv = node(step.node), &norm = node(step.join.norm);
  JoinBefore join{.norm = norm_before(step.join.norm, channel_row(0)),
                  .other_gradient = addresses_.gradient(conv.in).data};
  if (step.join.residual_norm >= 0) {
    join.residual_norm = norm_before(step.join.residual_norm, channel_row(1));
  } else {
    join.residual = addresses_.activation(norm.residual).data;
  }
  convolutions_.data_gradient_join(shape, addresses_.gradient(conv.out).data, weight,
                                   addresses_.gradient(norm.residual, step.residual).data, join, stream);
}

void Network::backward_convolution(const BackwardStep& step, Stream stream) {
  const Node& conv = node(step.node);
  const ConvShape shape = this->shape(conv);
  const ParameterPlace& weight = addresses_.config().parameters.place(conv.layer, ParameterRole::convolution_weight);
  const void* const dy = addresses_.gradient(conv.out).data;
  if (step.join.norm >= 0) {
    backward_join(step, shape, addresses_.matrix(weight), stream);
  } else if (step.in != Target::none) {
    backward_data(step, shape, addresses_.matrix(weight), stream);
  }
  const Addresses::Config& config = addresses_.config();
  convolutions_.weight_gradient(shape, addresses_.activation(config.plan.input_of(config.program, step.node)).data, dy,
                                addresses_.matrix_gradient(weight), prologue(step.node),
                                weight_gradients_.fork(stream));
}

void Network::backward_linear(const BackwardStep& step, Stream stream) {
  const Node& linear = node(step.node);
  const ParameterPlace& weight = addresses_.config().parameters.place(linear.layer, ParameterRole::linear_weight);
  const void* const dy = addresses_.gradient(linear.out).data;
  const LinearShape shape = linear_shape(addresses_.config().program, linear, addresses_.config().images);
  linear_.data_gradient(shape, dy, addresses_.matrix(weight), addresses_.gradient(linear.in, step.in).data, stream);
  linear_.weight_gradient(shape, addresses_.activation(linear.in).data, dy, addresses_.matrix_gradient(weight), stream);
}

void Network::backward_pool(const BackwardStep& step, Stream stream) {
  const Node& node = this->node(step.node);
  kernels::PoolCall call = addresses_.pool(node);
  call.x = addresses_.gradient(node.in, step.in);
  call.y = addresses_.gradient(node.out);
  if (node.kind == NodeKind::max_pool) {
    kernels::launch_max_pool_backward(call, addresses_.winners(step.node), stream);
  } else if (node.kind == NodeKind::average_pool) {
    kernels::launch_average_pool_backward(call, stream);
  } else if (node.kind == NodeKind::adaptive_average_pool) {
    kernels::launch_adaptive_average_backward(call, stream);
  } else {
    kernels::launch_global_average_backward(call, stream);
  }
}

}  // namespace chexbench::engine::cuda
