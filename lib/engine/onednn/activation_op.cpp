#include "engine/onednn/activation_op.hpp"

#include "engine/dropout.hpp"
namespace chexbench::engine::onednn {

ActivationOp::ActivationOp(const Device& device, Clamp clamp, Tensor& y)
    : kernels_(kernels(device.isa, y.type, device.block)),
      device_(device),
      clamp_(clamp),
      y_(y),
      ones_(static_cast<std::size_t>(y.blocks() * device.block), 1.0f),
      zeros_(ones_.size()) {}

void ActivationOp::plan_forward(Planner& planner) { planner.use(y_); }

void ActivationOp::plan_backward(Planner& planner, ParameterStore&) {
  gradients_ = planner.use_gradients(y_);
  planner.use(y_);
  planner.merge_gradients(y_);
}

void ActivationOp::forward() {
  const NormForward identity{.x = y_.view(),
                             .residual = {},
                             .y = y_.view(),
                             .scale = ones_.data(),
                             .shift = zeros_.data(),
                             .clamp = clamp_,
                             .pixels = y_.shape.pixels()};
  for_all(y_.division(), [&](Work work) { kernels_.normalize(identity, work); });
}

void ActivationOp::backward() {
  sum_gradients(device_, gradients_, 2);
  NormBackward identity{.x = y_.view(),
                        .output = {},
                        .gradient = gradients_[0]->view(),
                        .gradient2 = {},
                        .masked = {},
                        .scale = ones_.data(),
                        .shift = zeros_.data(),
                        .mean = zeros_.data(),
                        .clamp = clamp_,
                        .pixels = y_.shape.pixels()};
  if (gradients_.size() > 1) identity.gradient2 = gradients_[1]->view();
  const NormInputGradient input{.a = ones_.data(), .b = zeros_.data(), .c = zeros_.data(), .dx = identity.gradient};
  for_all(y_.division(), [&](Work work) { kernels_.gradient_apply(identity, input, work); });
}

DropoutOp::DropoutOp(const Device& device, double rate, int layer, const PassMode& mode, Tensor& y)
    : device_(device), rate_(rate), layer_(layer), mode_(mode), y_(y) {}

void DropoutOp::plan_forward(Planner& planner) { planner.use(y_); }

void DropoutOp::plan_backward(Planner& planner, ParameterStore&) {
  gradients_ = planner.use_gradients(y_);
  planner.merge_gradients(y_);
}

void DropoutOp::drop(Tensor& values) const {
  parallel_for(values.shape.images, [&](int image) {
    const DropoutMask mask(mode_.batch_seed, layer_, image, rate_);
    float* const row = reinterpret_cast<float*>(values.data) + std::int64_t{image} * values.shape.channels;
    for (int i = 0; i < values.shape.channels; ++i) row[i] *= mask.factor(i);
  });
}

void DropoutOp::forward() {
  if (mode_.drops) drop(y_);
}

void DropoutOp::backward() {
  sum_gradients(device_, gradients_, 1);
  drop(*gradients_[0]);
}

}  // namespace chexbench::engine::onednn
