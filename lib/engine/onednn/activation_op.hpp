// What happens to values where they stand: activations that no norm takes in, and dropout.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/onednn/op.hpp"
#include "engine/onednn/pass_mode.hpp"

namespace chexbench::engine {

// y = clamp(y), in place: the gradient passes where the clamped value lies within.
class ActivationOp final : public Op {
 public:
  // A flat tensor's channels must fill its blocks.
  ActivationOp(const Device& device, Clamp clamp, Tensor& y);
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
  std::vector<float> ones_, zeros_;  // an activation is the norm that changes nothing
};

// Dropout in place on a flat tensor, by the masks of engine/dropout.hpp.
class DropoutOp final : public Op {
 public:
  // `mode` is looked at in each pass and must outlive the op.
  DropoutOp(const Device& device, double rate, int layer, const PassMode& mode, Tensor& y);
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

}  // namespace chexbench::engine
