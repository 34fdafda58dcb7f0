// The linear layers after the last pool.
#pragma once

#include <string>
#include <unordered_map>

#include "engine/onednn/op.hpp"

namespace chexbench::engine::onednn {

// A fully connected layer, computed by oneDNN: y = x weight^T + bias. x and y are flat, and all is f32.
class LinearOp final : public Op {
 public:
  LinearOp(const Device& device, const model::Layer& layer, const PassMode& mode, Tensor& x, Tensor& y);
  std::string kind() const override { return "linear"; }
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void add_parameters(ParameterStore& store) override;
  void bind() override;
  void forward() override;
  void backward() override;

 private:
  void bind_backward();
  dnnl::memory wrap(const dnnl::memory::desc& desc, void* data) const { return {desc, device_.engine, data}; }

  const Device& device_;
  const std::string name_;
  const PassMode& mode_;
  Tensor& x_;
  Tensor& y_;
  Tensor* y_gradient_ = nullptr;
  Tensor* x_gradient_ = nullptr;
  ParameterSlot* weight_ = nullptr;
  ParameterSlot* bias_ = nullptr;
  dnnl::inner_product_forward::primitive_desc forward_desc_;
  dnnl::primitive forward_, on_one_thread_, data_, weights_;
  std::unordered_map<int, dnnl::memory> forward_arguments_, data_arguments_, weights_arguments_;
};

}  // namespace chexbench::engine::onednn
