// Batch norm fused with the residual add and the activation after it: y = activation(norm(x) + residual).
#pragma once

#include "engine/onednn/norm_state.hpp"

namespace chexbench::engine::onednn {

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

}  // namespace chexbench::engine::onednn
