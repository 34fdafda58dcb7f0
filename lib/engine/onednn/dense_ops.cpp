#include "engine/onednn/dense_ops.hpp"

#include "engine/onednn/weight_gradient.hpp"

namespace chexbench::engine::onednn {

DenseBlock::DenseBlock(Planner& planner, const TensorShape& shape)
    : features(planner.tensor(shape)),
      gradient(planner.tensor(shape, FloatType::f32)),
      mean(static_cast<std::size_t>(shape.channels)),
      variance(static_cast<std::size_t>(shape.channels)),
      b(static_cast<std::size_t>(shape.channels)),
      c(static_cast<std::size_t>(shape.channels)) {}

DenseWriteOp::DenseWriteOp(const Device& device, DenseBlock& block, Tensor& x, int first_channel)
    : device_(device), block_(block), x_(x), first_channel_(first_channel) {}

void DenseWriteOp::plan_forward(Planner& planner) {
  planner.use(x_);
  planner.use(block_.features);
}

void DenseWriteOp::plan_backward(Planner& planner, ParameterStore&) {
  planner.use(block_.features);
  planner.use(block_.gradient);
  x_gradient_ = &planner.tensor(x_.shape);
  planner.use(*x_gradient_);
  planner.add_gradient(x_, *x_gradient_);
}

void DenseWriteOp::forward() {
  const View from = x_.view(), to = block_.features.view(first_channel_);
  const int pixels = x_.shape.pixels();
  sum_then_apply(
      x_.division(),
      [&](Work work, ChannelSums& sums) {
        device_.kernels->copy_statistics(from, to, pixels, work, sums.first, sums.second);
      },
      [&](int block, const ChannelSums& sums) {
        for (int lane = 0; lane < device_.block; ++lane) {
          const auto channel = static_cast<std::size_t>(first_channel_ + block * device_.block + lane);
          const Moments moments = Moments::of(sums.first[lane], sums.second[lane], block_.count());
          block_.mean[channel] = static_cast<float>(moments.mean);
          block_.variance[channel] = static_cast<float>(moments.variance);
        }
      },
      [](Work) {});
}

void DenseWriteOp::backward() {
  const View total = block_.gradient.view(first_channel_), x = block_.features.view(first_channel_);
  const NormInputGradient input{
      .b = block_.b.data() + first_channel_, .c = block_.c.data() + first_channel_, .dx = x_gradient_->view()};
  const int pixels = x_.shape.pixels();
  for_all(x_.division(), [&](Work work) { device_.kernels->gradient_finish(total, x, input, pixels, work); });
}

DenseNormOp::DenseNormOp(const Device& device, const model::Layer& layer, const PassMode& mode, Clamp clamp,
                         DenseBlock& block, Tensor& y)
    : device_(device), state_(layer, device.block, mode), clamp_(clamp), block_(block), y_(y) {}

void DenseNormOp::plan_forward(Planner& planner) {
  planner.use(block_.features);
  planner.use(y_);
}

void DenseNormOp::plan_backward(Planner& planner, ParameterStore& store) {
  gradients_ = planner.gradients(y_);
  for (Tensor* gradient : gradients_) planner.use(*gradient);
  planner.use(block_.features);
  planner.use(block_.gradient);
  add_parameters(store);
  first_ = !block_.gradient_begun;
  block_.gradient_begun = true;
}

void DenseNormOp::forward() {
  const NormForward norm{.x = block_.features.view(),
                         .residual = {},
                         .y = y_.view(),
                         .scale = state_.scale(),
                         .shift = state_.shift(),
                         .clamp = clamp_,
                         .pixels = y_.shape.pixels()};
  for (int block = 0; block < y_.blocks(); ++block) {
    const int channel = block * device_.block;
    state_.set_from_statistics(block, block_.mean.data() + channel, block_.variance.data() + channel, block_.count());
  }
  for_all(y_.division(), [&](Work work) { device_.kernels->normalize(norm, work); });
}

void DenseNormOp::backward() {
  sum_gradients(device_, gradients_, 1);
  const NormBackward norm{.x = block_.features.view(),
                          .output = {},
                          .gradient = gradients_[0]->view(),
                          .gradient2 = {},
                          .masked = {},
                          .scale = state_.scale(),
                          .shift = state_.shift(),
                          .mean = state_.mean(),
                          .clamp = clamp_,
                          .pixels = y_.shape.pixels()};
  const View total = block_.gradient.view();
  sum_then_apply(
      y_.division(),
      [&](Work work, ChannelSums& sums) {
        device_.kernels->gradient_accumulate(norm, state_.gradient_factor(), total, first_, work, sums.first,
                                             sums.second);
      },
      [&](int block, const ChannelSums& sums) {
        state_.set_gradients(block, sums, block_.count());
        for (int lane = 0; lane < device_.block; ++lane) {
          const auto i = static_cast<std::size_t>(block * device_.block + lane);
          block_.b[i] = (first_ ? 0.0f : block_.b[i]) + state_.b()[i];
          block_.c[i] = (first_ ? 0.0f : block_.c[i]) + state_.c()[i];
        }
      },
      [](Work) {});
}

}  // namespace chexbench::engine::onednn
