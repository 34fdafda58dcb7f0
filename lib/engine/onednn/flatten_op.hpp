// Turns feature maps into the vectors that linear layers read.
#pragma once

#include "engine/onednn/op.hpp"

namespace chexbench::engine::onednn {

// An adaptive average pool and a flatten in one op. x is blocked, f32 or bf16. y is flat and f32: for each image,
// height x width means of each channel in PyTorch's order (channel, row, column). Along an axis with n inputs and m
// outputs, window i covers inputs [floor(i n / m), ceil((i + 1) n / m)), as in PyTorch's AdaptiveAvgPool2d. If n = m,
// each window covers one value, and the op only flattens.
class FlattenOp final : public Op {
 public:
  // The number of windows along each axis.
  struct Size {
    int height = 0;
    int width = 0;
  };

  FlattenOp(Tensor& x, Size size, Tensor& y) : x_(x), size_(size), y_(y) {}
  std::string kind() const override { return "flatten"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;

 private:
  template <typename T>
  void average();
  template <typename T>
  void spread();

  Tensor& x_;
  const Size size_;
  Tensor& y_;
  Tensor* y_gradient_ = nullptr;
  Tensor* x_gradient_ = nullptr;
};

}  // namespace chexbench::engine::onednn
