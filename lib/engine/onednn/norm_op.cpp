#include "engine/onednn/norm_op.hpp"

#include "engine/onednn/gradient_sum.hpp"

namespace chexbench::engine::onednn {

NormOp::NormOp(const Device& device, const model::Layer& layer, const PassMode& mode, Clamp clamp, Tensor& x,
               Tensor* residual, Output y)
    : device_(device),
      state_(layer, device.block, mode),
      mode_(mode),
      clamp_(clamp),
      x_(x),
      residual_(residual),
      y_(y.tensor),
      first_channel_(y.first_channel) {}

void NormOp::plan_forward(Planner& planner) {
  planner.use(x_);
  if (residual_ != nullptr) planner.use(*residual_);
  planner.use(y_);
}

void NormOp::plan_backward(Planner& planner, ParameterStore& store) {
  gradients_ = planner.gradients(y_);
  for (Tensor* gradient : gradients_) planner.use(*gradient);
  planner.use(x_);
  add_parameters(store);
  // The gradient of x overwrites x. The masked gradient, which is the residual's too, overwrites y's first gradient.
  planner.add_gradient(x_, x_);
  if (residual_ == nullptr) return;
  planner.use(y_);
  planner.add_gradient(*residual_, *gradients_.front());
}

NormForward NormOp::forward_arguments() const {
  return {.x = x_.view(),
          .residual = residual_ != nullptr ? residual_->view() : View{},
          .y = y_.view(first_channel_),
          .scale = state_.scale(),
          .shift = state_.shift(),
          .clamp = clamp_,
          .pixels = x_.shape.pixels()};
}

void NormOp::forward() {
  const NormForward norm = forward_arguments();
  const Kernels& kernels = *device_.kernels;
  sum_then_apply(
      x_.division(),
      [&](Work work, ChannelSums& sums) {
        if (!mode_.running_statistics) kernels.statistics(norm.x, norm.pixels, work, sums.first, sums.second);
      },
      [&](int block, const ChannelSums& sums) { state_.set_from_sums(block, sums, count()); },
      [&](Work work) { kernels.normalize(norm, work); });
}

NormBackward NormOp::backward_arguments() const {
  NormBackward norm{.x = x_.view(),
                    .gradient = gradients_[0]->view(first_channel_),
                    .scale = state_.scale(),
                    .shift = state_.shift(),
                    .mean = state_.mean(),
                    .clamp = clamp_,
                    .pixels = x_.shape.pixels()};
  if (gradients_.size() > 1) norm.gradient2 = gradients_[1]->view(first_channel_);
  if (residual_ != nullptr) {
    norm.output = y_.view();
    norm.masked = norm.gradient;
  }
  return norm;
}

void NormOp::backward() {
  sum_gradients(device_, gradients_, 2, {first_channel_, x_.blocks()});
  const NormBackward norm = backward_arguments();
  const NormInputGradient input{.a = state_.gradient_factor(), .b = state_.b(), .c = state_.c(), .dx = norm.x};
  const Kernels& kernels = *device_.kernels;
  sum_then_apply(
      x_.division(), [&](Work work, ChannelSums& sums) { kernels.gradient_sums(norm, work, sums.first, sums.second); },
      [&](int block, const ChannelSums& sums) { state_.set_gradients(block, sums, count()); },
      [&](Work work) { kernels.gradient_apply(norm, input, work); });
}

}  // namespace chexbench::engine::onednn
