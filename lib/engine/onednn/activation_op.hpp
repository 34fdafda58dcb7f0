// Ops that change a tensor in place: activations that are not fused into a norm, and dropout.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/onednn/op.hpp"

namespace chexbench::engine::onednn {

// y = clamp(y), in place. The gradient passes where the clamped value is strictly inside the clamp's limits, or NaN.
class ActivationOp final : public Op {
 public:
  // If `y` is flat, its number of channels must be a multiple of device.block.
  ActivationOp(const Device& device, Clamp clamp, Tensor& y);
  std::string kind() const override { return "activation"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;

 private:
  const Kernels& kernels_;
  const Device& device_;
  const Clamp clamp_;
  Tensor& y_;
  std::vector<Tensor*> gradients_;
  std::vector<float> ones_, zeros_;  // scale and shift of the identity norm, whose kernels clamp
};

// Dropout in place on a flat tensor, with the masks of engine/dropout.hpp. Backward draws the masks again.
class DropoutOp final : public Op {
 public:
  // `layer` is the layer's index in the graph, from which masks are drawn. `mode` must outlive the op.
  DropoutOp(const Device& device, double rate, int layer, const PassMode& mode, Tensor& y);
  std::string kind() const override { return "dropout"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;

 private:
  void drop(Tensor& values) const;

  const Device& device_;
  const double rate_;
  const int layer_;
  const PassMode& mode_;
  Tensor& y_;
  std::vector<Tensor*> gradients_;
};

}  // namespace chexbench::engine::onednn
