#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

// cuDNN writes scratch that nobody reads, for which the reductions' scratch serves: no reduction runs beside it.
void Network::backward_join(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream) {
  const Node &conv = node(step.node), &norm = node(step.join.norm);
  const int channels = conv.in.channels, residual_norm = step.join.residual_norm;
  auto* const scratch = addresses_.at<float>(addresses_.config().plan.regions.reductions);
  JoinBefore join{.norm = norm_before(step.join.norm, channel_row(0), scratch),
                  .other_gradient = addresses_.gradient(conv.in).data};
  kernels::launch_inverse_deviation(addresses_.norm(step.join.norm), channels, channel_row(0), stream);
  if (residual_norm >= 0) {
    join.residual_norm = norm_before(residual_norm, channel_row(1), scratch + channels);
    kernels::launch_inverse_deviation(addresses_.norm(residual_norm), channels, channel_row(1), stream);
  } else {
    join.residual = addresses_.activation(norm.residual).data;
  }
  convolutions_.data_gradient_join(shape, addresses_.gradient(conv.out).data, weight,
                                   addresses_.gradient(norm.residual, step.residual).data, join, stream);
}

}  // namespace chexbench::engine::cuda
