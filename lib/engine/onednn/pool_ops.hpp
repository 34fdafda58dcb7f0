// Pools over windows, the global average over all pixels, and the pool whose result linear layers read.
#pragma once

#include "engine/onednn/op.hpp"

namespace chexbench::engine::onednn {

// Maximum or average over square windows, from a blocked tensor to a blocked tensor. An average counts positions
// outside the image as 0.
class PoolOp final : public Op {
 public:
  PoolOp(const Device& device, const model::Layer& layer, Tensor& x, Tensor& y);
  std::string kind() const override { return max_ ? "max pool" : "average pool"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;

 private:
  View winner_view() const;

  const Device& device_;
  const bool max_;
  const PoolShape shape_;
  Tensor& x_;
  Tensor& y_;
  Tensor* winner_ = nullptr;  // max pools: which element of each window is the maximum, u8
  std::vector<Tensor*> gradients_;
  Tensor* x_gradient_ = nullptr;
};

// Averages each channel over all pixels. x is blocked, and its channels must fill its blocks; y is flat and f32.
class GlobalAverageOp final : public Op {
 public:
  GlobalAverageOp(const Device& device, Tensor& x, Tensor& y) : device_(device), x_(x), y_(y) {}
  std::string kind() const override { return "global average"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;

 private:
  const Device& device_;
  Tensor& x_;
  Tensor& y_;
  Tensor* y_gradient_ = nullptr;
  Tensor* x_gradient_ = nullptr;
};

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
