#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

void Network::convolve_join(int i, Stream stream) {
  const Addresses::Config& config = addresses_.config();
  const Node& conv = node(i);
  const auto [norm, residual_norm] = config.plan.forward_joins[static_cast<std::size_t>(i)];
  JoinPrologue join{.x = addresses_.activation(node(norm).in).data,
                    .norm = affine(norm),
                    .joined = addresses_.activation(conv.in).data};
  if (residual_norm >= 0) {
    join.residual_x = addresses_.activation(node(residual_norm).in).data;
    join.residual_norm = affine(residual_norm);
  } else {
    join.residual = addresses_.activation(node(norm).residual).data;
  }
  const ParameterPlace& weight = config.parameters.place(conv.layer, model::ParameterRole::convolution_weight);
  convolutions_.joined_forward(shape(conv), join, addresses_.matrix(weight), addresses_.activation(conv.out).data,
                               {channel_row(0), channel_row(1)}, stream);
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

}  // namespace chexbench::engine::cuda
