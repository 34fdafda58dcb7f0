// A convolution: oneDNN's primitives and the three layouts of its weights.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/onednn/op.hpp"

namespace chexbench::engine {

class ConvolutionOp final : public Op {
 public:
  // `weight` is the parameter of `layer`, beside its bias if it has one. `scratchpad` is shared by all ops and
  // allocated before bind().
  ConvolutionOp(const Device& device, const model::Layer& layer, model::TensorInfo weight, Tensor& source,
                Tensor& destination, bool needs_source_gradient, const Tensor& scratchpad);

  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void bind() override;
  void forward() override;
  void backward() override;
  void refresh_weights() override;
  std::size_t held_bytes() const override;
  std::size_t scratchpad_bytes() const override;
  // oneDNN's name of what computes forward: "jit:avx2".
  std::string forward_implementation() const { return forward_desc_.impl_info_str(); }

 private:
  // Whether forward gives another layout than the destination's, into the scratchpad.
  bool is_rearranged() const { return forward_desc_.dst_desc() != destination_.desc; }
  std::size_t rearranged_offset() const;
  dnnl::memory wrap(const dnnl::memory::desc& desc, void* data) const { return {desc, device_.engine, data}; }
  // The store's weights as `desc`: themselves, or a copy that refresh_weights() keeps up to date.
  dnnl::memory weights_as(const dnnl::memory::desc& desc);

  const Device& device_;
  const model::TensorInfo weight_;
  const std::optional<model::TensorInfo> bias_;
  Tensor& source_;
  Tensor& destination_;
  const bool needs_source_gradient_;
  const Tensor& scratchpad_;
  Tensor* destination_gradient_ = nullptr;
  Tensor* source_gradient_ = nullptr;
  ParameterSlot* slot_ = nullptr;
  ParameterSlot* bias_slot_ = nullptr;

  dnnl::convolution_forward::primitive_desc forward_desc_;
  dnnl::convolution_backward_data::primitive_desc data_desc_;
  dnnl::convolution_backward_weights::primitive_desc weights_desc_;
  dnnl::primitive forward_, data_, weights_;
  std::unordered_map<int, dnnl::memory> forward_arguments_, data_arguments_, weights_arguments_;
  struct Copy {
    dnnl::memory from, to;
    dnnl::reorder reorder;
    void run(const Device& device) { reorder.execute(device.stream, from, to); }
  };
  std::vector<Copy> copies_;
  std::optional<Copy> rearrangement_;
};

}  // namespace chexbench::engine
