// DenseNet's dense blocks without concatenation: one tensor has all feature maps of a block, each layer writes its
// channels into it, and each norm reads the first channels up to those of its layer. The statistics of a feature
// map are computed once, when it is written, since the norms that read it differ only in weight and bias. In backward,
// each norm adds only a[c] * g to the block's gradient (a, b, c as in NormInputGradient). The terms b[c] * x + c[c] of
// all norms that read a channel are summed per channel and applied once, by the op that wrote the channel.
#pragma once

#include "engine/onednn/norm_op.hpp"

namespace chexbench::engine::onednn {

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
// their statistics. Its backward completes the gradient of these channels and hands it to x.
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
