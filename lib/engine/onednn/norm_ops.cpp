#include "engine/onednn/norm_ops.hpp"

#include <algorithm>
#include <cmath>

namespace chexbench::engine::onednn {
namespace {

constexpr double kMomentum = 0.1;  // share of the new batch in the running statistics; PyTorch's default

std::size_t padded(int channels) {
  return static_cast<std::size_t>((channels + kMaxBlock - 1) / kMaxBlock) * kMaxBlock;
}

}  // namespace

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
  gradients_ = planner.use_gradients(y_);
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

Moments Moments::of(double sum, double sum_squares, double count) {
  const double mean = sum / count;
  return {mean, std::max(sum_squares / count - mean * mean, 0.0)};
}

NormState::NormState(const model::Layer& layer, int block, const PassMode& mode)
    : name_(layer.name),
      channels_(layer.channels),
      block_(block),
      mode_(mode),
      epsilon_(layer.epsilon),
      running_mean_(padded(channels_)),
      running_variance_(padded(channels_), 1.0f),
      mean_(padded(channels_)),
      inverse_deviation_(padded(channels_)),
      scale_(padded(channels_)),
      shift_(padded(channels_)),
      b_(padded(channels_)),
      c_(padded(channels_)) {}

void NormState::add_parameters(ParameterStore& store) {
  weight_ = &store.add_vector({name_ + ".weight", {channels_}});
  bias_ = &store.add_vector({name_ + ".bias", {channels_}});
}

std::vector<BufferSlot> NormState::buffers() {
  return {{{name_ + ".running_mean", {channels_}}, &running_mean_},
          {{name_ + ".running_var", {channels_}}, &running_variance_}};
}

void NormState::update_running(int channel, double mean, double variance, double count) {
  const auto i = static_cast<std::size_t>(channel);
  const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
  running_mean_[i] = static_cast<float>((1 - kMomentum) * static_cast<double>(running_mean_[i]) + kMomentum * mean);
  running_variance_[i] =
      static_cast<float>((1 - kMomentum) * static_cast<double>(running_variance_[i]) + kMomentum * unbiased);
}

void NormState::set_affine(int channel, double mean, double variance) {
  const auto i = static_cast<std::size_t>(channel);
  const double inverse = 1.0 / std::sqrt(variance + epsilon_);
  const double scale = static_cast<double>(weight_->weights[i]) * inverse;
  mean_[i] = static_cast<float>(mean);
  inverse_deviation_[i] = static_cast<float>(inverse);
  scale_[i] = static_cast<float>(scale);
  shift_[i] = static_cast<float>(static_cast<double>(bias_->weights[i]) - mean * scale);
}

void NormState::set_from_sums(int block, const ChannelSums& sums, double count) {
  float mean[kMaxBlock], variance[kMaxBlock];
  for (int lane = 0; lane < block_; ++lane) {
    const Moments moments = Moments::of(sums.first[lane], sums.second[lane], count);
    mean[lane] = static_cast<float>(moments.mean);
    variance[lane] = static_cast<float>(moments.variance);
  }
  set_from_statistics(block, mean, variance, count);
}

void NormState::set_from_statistics(int block, const float* mean, const float* variance, double count) {
  const int first = block * block_;
  for (int channel = first; channel < std::min(first + block_, channels_); ++channel) {
    const auto i = static_cast<std::size_t>(channel);
    const int lane = channel - first;
    if (mode_.running_statistics) {
      set_affine(channel, static_cast<double>(running_mean_[i]), static_cast<double>(running_variance_[i]));
    } else {
      update_running(channel, static_cast<double>(mean[lane]), static_cast<double>(variance[lane]), count);
      set_affine(channel, static_cast<double>(mean[lane]), static_cast<double>(variance[lane]));
    }
  }
}

void NormState::set_gradients(int block, const ChannelSums& sums, double count) {
  const int first = block * block_;
  for (int channel = first; channel < std::min(first + block_, channels_); ++channel) {
    const auto i = static_cast<std::size_t>(channel);
    const int lane = channel - first;
    const double inverse = static_cast<double>(inverse_deviation_[i]);
    weight_->gradient[i] = static_cast<float>(sums.second[lane] * inverse);
    bias_->gradient[i] = static_cast<float>(sums.first[lane]);
    if (mode_.running_statistics) continue;  // b and c stay 0: running statistics do not depend on x
    const double a = static_cast<double>(scale_[i]);
    const double b = -a * inverse * inverse * sums.second[lane] / count;
    b_[i] = static_cast<float>(b);
    c_[i] = static_cast<float>(-a * sums.first[lane] / count - b * static_cast<double>(mean_[i]));
  }
}

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
  x_gradient_ = &planner.new_gradient(x_);
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
  gradients_ = planner.use_gradients(y_);
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
