// From feature maps to the vector that linear layers read.
#pragma once

#include "engine/onednn/op.hpp"

namespace chexbench::engine {

// y[image] = size x size means of each channel, f32, in PyTorch's order: channel, row, column. Window i of `size`
// covers [floor(i in / size), ceil((i + 1) in / size)), as PyTorch's AdaptiveAvgPool2d; of an image that is size x size
// already, each covers one value.
class FlattenOp final : public Op {
 public:
  struct Size {
    int height = 0;
    int width = 0;
  };

  FlattenOp(Tensor& x, Size size, Tensor& y) : x_(x), size_(size), y_(y) {}
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

}  // namespace chexbench::engine
