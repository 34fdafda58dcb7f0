// Batch norm with everything around it: y = activation(norm(x) + residual).
#pragma once

#include "engine/onednn/norm_state.hpp"

namespace chexbench::engine {

class NormOp final : public Op {
 public:
  // Where the result goes: channels of `tensor` from `first_channel` on, others of which another op may write.
  struct Output {
    Tensor& tensor;
    int first_channel = 0;
  };

  // `residual` may be null; with one, y is a whole tensor. x must have no other reader: its gradient takes its place.
  NormOp(const Device& device, const model::Layer& layer, const PassMode& mode, Clamp clamp, Tensor& x,
         Tensor* residual, Output y);

  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void forward() override;
  void backward() override;
  std::vector<BufferSlot> buffers() override { return state_.buffers(); }

 private:
  NormForward forward_arguments() const;
  NormBackward backward_arguments() const;
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

}  // namespace chexbench::engine
