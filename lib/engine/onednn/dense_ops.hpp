// Dense blocks without concatenation: one tensor holds a block's feature maps, each layer writes its channels into it,
// and the norms read prefixes. Each map's statistics are computed once, when it is written: later norms differ
// only in weight and bias. Backward adds up a[c] * g alone; the terms b[c] * x + c[c] of all norms that read a
// channel are summed per channel and applied once, when the op that wrote the channel is reached.
#pragma once

#include "engine/onednn/norm_state.hpp"

namespace chexbench::engine {

// What the ops of one dense block share.
struct DenseBlock {
  DenseBlock(Planner& planner, const TensorShape& shape);
  double count() const { return static_cast<double>(features.shape.images) * features.shape.pixels(); }

  Tensor& features;
  Tensor& gradient;  // f32: the sum of a * g of up to 25 norms
  std::vector<float> mean, variance;
  std::vector<float> b, c;      // summed over the norms whose backward has run
  bool gradient_begun = false;  // while planning: some norm's backward is before the one being planned
};

// Writes x, the output of a convolution or a pool, into the channels of a block from `first_channel` on.
class DenseWriteOp final : public Op {
 public:
  DenseWriteOp(const Device& device, DenseBlock& block, Tensor& x, int first_channel);
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

// y = activation(norm(the block's first channels)); how many, y says.
class DenseNormOp final : public Op {
 public:
  DenseNormOp(const Device& device, const model::Layer& layer, const PassMode& mode, Clamp clamp, DenseBlock& block,
              Tensor& y);
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
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
  bool first_ = false;  // its backward is the block's first
};

}  // namespace chexbench::engine
