// Pools, and the fully connected layer after the last one.
#pragma once

#include <unordered_map>

#include "engine/onednn/op.hpp"

namespace chexbench::engine {

// Max or average over square windows.
class PoolOp final : public Op {
 public:
  PoolOp(const Device& device, const model::Layer& layer, Tensor& x, Tensor& y);
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
  Tensor* winner_ = nullptr;  // max: which element of each window it was
  std::vector<Tensor*> gradients_;
  Tensor* x_gradient_ = nullptr;
};

// y[image][channel], f32, = mean over the pixels.
class GlobalAverageOp final : public Op {
 public:
  GlobalAverageOp(const Device& device, Tensor& x, Tensor& y) : device_(device), x_(x), y_(y) {}
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

// y = x weight^T + bias, all f32 and flat.
class LinearOp final : public Op {
 public:
  LinearOp(const Device& device, const model::Layer& layer, Tensor& x, Tensor& y);
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void bind() override;
  void forward() override;
  void backward() override;

 private:
  const Device& device_;
  const std::string name_;
  Tensor& x_;
  Tensor& y_;
  Tensor* y_gradient_ = nullptr;
  Tensor* x_gradient_ = nullptr;
  ParameterSlot* weight_ = nullptr;
  ParameterSlot* bias_ = nullptr;
  dnnl::inner_product_forward::primitive_desc forward_desc_;
  dnnl::primitive forward_, data_, weights_;
  std::unordered_map<int, dnnl::memory> forward_arguments_, data_arguments_, weights_arguments_;
};

}  // namespace chexbench::engine
