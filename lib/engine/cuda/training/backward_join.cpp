#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

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
