// Batch norms, fused with the residual add and the activation after them: y = activation(norm(x) + residual).
//
// DenseNet's dense blocks need no concatenation: one tensor has all feature maps of a block, each layer writes its
// channels into it, and each norm reads the first channels up to those of its layer. The statistics of a feature
// map are computed once, when it is written, since the norms that read it differ only in weight and bias. In backward,
// each norm adds only a[c] * g to the block's gradient (a, b, c as in NormInputGradient). The terms b[c] * x + c[c] of
// all norms that read a channel are summed per channel and applied once, by the op that wrote the channel.
#pragma once

#include <vector>

#include "engine/onednn/op.hpp"
#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {

// The per-channel part of a batch norm: statistics, running averages, and the factors that the kernels multiply by.
// Formulas as in PyTorch, after Ioffe and Szegedy, "Batch normalization", ICML 2015.
//
// Calls for different blocks may run on different threads at the same time. The arrays that scale(), shift(), mean(),
// b(), c() and gradient_factor() point to have one f32 value per channel, are padded with zeros to a multiple of
// kMaxBlock channels, and stay valid as long as the state.
class NormState {
 public:
  // `block` is the number of channels per block. `mode` must outlive the state.
  NormState(const model::Layer& layer, int block, const PassMode& mode);

  // Adds weight and bias to the store. Must be called in the order of backward (Op::plan_backward).
  void add_parameters(ParameterStore& store);
  // The running mean and the running variance, which is unbiased. They start at 0 and 1.
  std::vector<BufferSlot> buffers();

  // Sets scale, shift and mean of the channels of `block` from the sums (first) and the sums of squares (second) of the
  // batch's `count` values per channel, and updates the running statistics with momentum 0.1. If the mode asks for
  // running statistics, uses these instead and leaves them unchanged.
  void set_from_sums(int block, const ChannelSums& sums, double count);
  // Does the same with known statistics: the mean and the biased variance of each channel of the block.
  void set_from_statistics(int block, const float* mean, const float* variance, double count);

  // Computes the gradients of weight and bias of the channels of `block`, and b and c of NormInputGradient, from the
  // sums of g (first) and of g * (x - mean) (second). If the mode asks for running statistics, b and c stay 0.
  void set_gradients(int block, const ChannelSums& sums, double count);
  // a of NormInputGradient. It equals scale, so unlike b and c it is known before the sums.
  const float* gradient_factor() const { return scale_.data(); }

  const float* scale() const { return scale_.data(); }
  const float* shift() const { return shift_.data(); }
  const float* mean() const { return mean_.data(); }
  const float* b() const { return b_.data(); }
  const float* c() const { return c_.data(); }

 private:
  void update_running(int channel, double mean, double variance, double count);
  void set_affine(int channel, double mean, double variance);

  const std::string name_;
  const int channels_;
  const int block_;
  const PassMode& mode_;
  const double epsilon_;
  ParameterSlot* weight_ = nullptr;
  ParameterSlot* bias_ = nullptr;
  std::vector<float> running_mean_, running_variance_;
  std::vector<float> mean_, inverse_deviation_, scale_, shift_, b_, c_;  // scale_ is also a
};

// Mean and biased variance, from the sum and the sum of squares of `count` values.
struct Moments {
  double mean = 0;
  double variance = 0;
  static Moments of(double sum, double sum_squares, double count);
};

// Saves memory in backward: the gradient of x overwrites x. If there is a residual, the masked gradient of y, which is
// the residual's gradient, overwrites the first gradient of y.
class NormOp final : public Op {
 public:
  // The result goes to the channels of `tensor` from `first_channel` on. Other ops may write its other channels.
  struct Output {
    Tensor& tensor;
    int first_channel = 0;
  };

  // `residual` may be null; if it is not, the op must write all channels of y. `clamp` is the activation, infinite if
  // there is none. x must have no other reader, since its gradient overwrites it. `mode` must outlive the op.
  NormOp(const Device& device, const model::Layer& layer, const PassMode& mode, Clamp clamp, Tensor& x,
         Tensor* residual, Output y);

  std::string kind() const override { return "norm"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void add_parameters(ParameterStore& store) override { state_.add_parameters(store); }
  void forward() override;
  void backward() override;
  std::vector<BufferSlot> buffers() override { return state_.buffers(); }

 private:
  NormForward forward_arguments() const;
  NormBackward backward_arguments() const;
  // The number of values per channel.
  double count() const { return static_cast<double>(x_.shape.images) * x_.shape.pixels(); }

  const Device& device_;
  NormState state_;
  const PassMode& mode_;
  const Clamp clamp_;
  Tensor& x_;
  Tensor* const residual_;
  Tensor& y_;
  const int first_channel_;
  std::vector<Tensor*> gradients_;
};

// Shared by the ops of one dense block. The tensors belong to the planner.
struct DenseBlock {
  DenseBlock(Planner& planner, const TensorShape& shape);
  // The number of values per channel.
  double count() const { return static_cast<double>(features.shape.images) * features.shape.pixels(); }

  Tensor& features;
  Tensor& gradient;                   // f32, since it sums a * g of up to 25 norms
  std::vector<float> mean, variance;  // per channel; the variance is biased
  std::vector<float> b, c;            // per channel, summed over the norms whose backward has run
  bool gradient_begun = false;        // while planning: whether an earlier norm in backward order has been planned
};

// Copies x, the output of a convolution or a pool, into the channels of a block from `first_channel` on, and computes
// their statistics: oneDNN's fast implementations do not write strided tensors. Its backward completes the gradient of
// these channels and hands it to x.
class DenseWriteOp final : public Op {
 public:
  DenseWriteOp(const Device& device, DenseBlock& block, Tensor& x, int first_channel);
  std::string kind() const override { return "dense block: copy and statistics"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;

 private:
  const Device& device_;
  DenseBlock& block_;
  Tensor& x_;
  const int first_channel_;
  Tensor* x_gradient_ = nullptr;
};

// y = activation(norm(the block's first channels)). y has as many channels as the norm reads.
class DenseNormOp final : public Op {
 public:
  DenseNormOp(const Device& device, const model::Layer& layer, const PassMode& mode, Clamp clamp, DenseBlock& block,
              Tensor& y);
  std::string kind() const override { return "dense block: norm"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void add_parameters(ParameterStore& store) override { state_.add_parameters(store); }
  void forward() override;
  void backward() override;
  std::vector<BufferSlot> buffers() override { return state_.buffers(); }

 private:
  const Device& device_;
  NormState state_;
  const Clamp clamp_;
  DenseBlock& block_;
  Tensor& y_;
  std::vector<Tensor*> gradients_;
  bool first_ = false;  // whether its backward is the first of the block's norms
};

}  // namespace chexbench::engine::onednn
