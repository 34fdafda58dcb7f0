// A convolution, computed by oneDNN. Its weights exist in up to three layouts: the parameter store's, which is that of
// the gradient, and those that forward and backward by data are fastest in.
#pragma once

#include <dnnl.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/onednn/op.hpp"
#include "engine/onednn/planner.hpp"
#include "engine/onednn/weight_gradient.hpp"
#include "model/graph.hpp"

namespace chexbench::engine::onednn {

class ConvolutionOp final : public Op {
 public:
  // `weight` is the name and shape of the layer's weight, in PyTorch's order: [outputs, inputs / groups, kernel,
  // kernel]. `mode` must outlive the op. `scratchpad` is shared by all ops and must have its memory before bind().
  // `needs_source_gradient` is false if the source is the network's input.
  ConvolutionOp(const Device& device, const model::Layer& layer, model::TensorInfo weight, const PassMode& mode,
                Tensor& source, Tensor& destination, bool needs_source_gradient, const Tensor& scratchpad);

  std::string kind() const override { return kind_; }
  bool uses_winograd() const override;
  void plan_forward(Planner& planner) override;
  void plan_backward(Planner& planner, ParameterStore& store) override;
  void add_parameters(ParameterStore& store) override;
  void bind() override;
  void forward() override;
  void backward() override;
  void refresh_weights() override;
  std::size_t held_bytes() const override;
  std::size_t scratchpad_bytes() const override;
  // oneDNN's names for the implementations: "jit:avx2".
  std::string forward_implementation() const { return forward_desc_.impl_info_str(); }
  std::string data_implementation() const { return needs_source_gradient_ ? data_desc_.impl_info_str() : ""; }
  std::string weights_implementation() const { return weight_gradient_->implementation(); }

 private:
  // Whether forward writes a layout other than the destination's, so that its result goes to the scratchpad first.
  bool is_rearranged() const { return forward_desc_.dst_desc() != destination_.desc; }
  std::size_t rearranged_offset() const;
  std::size_t forward_scratchpad_bytes() const;
  void bind_backward();
  dnnl::memory wrap(const dnnl::memory::desc& desc, void* data) const { return {desc, device_.engine, data}; }
  // Returns the weights in the layout of `desc`: the store's own memory if it has that layout, otherwise a copy that
  // refresh_weights() keeps up to date.
  dnnl::memory weights_as(const dnnl::memory::desc& desc);

  const Device& device_;
  const std::string kind_;  // "convolution 3x3"
  const model::TensorInfo weight_;
  const std::optional<model::TensorInfo> bias_;
  const PassMode& mode_;
  Tensor& source_;
  Tensor& destination_;
  const bool needs_source_gradient_;
  const Tensor& scratchpad_;
  Tensor* destination_gradient_ = nullptr;
  Tensor* source_gradient_ = nullptr;
  ParameterSlot* slot_ = nullptr;
  ParameterSlot* bias_slot_ = nullptr;

  using Forward = dnnl::convolution_forward::primitive_desc;
  Forward forward_desc_;
  std::optional<Forward> forward_desc_on_one_thread_;  // if the number of threads changes the bits
  dnnl::convolution_backward_data::primitive_desc data_desc_;
  std::optional<WeightGradient> weight_gradient_;  // filled by the constructor
  dnnl::primitive forward_, forward_on_one_thread_, data_;
  std::unordered_map<int, dnnl::memory> forward_arguments_, arguments_on_one_thread_, data_arguments_;
  std::vector<Rearrangement> copies_;
  std::optional<Rearrangement> rearrangement_;
};

// Whether oneDNN likely computes a convolution faster with Winograd's algorithm than directly, if it has it: oneDNN 2
// with AVX-512 only; see with_winograd(). Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR
// 2016: for 3x3 windows it takes a quarter of the multiplications, and transforms tiles of 4x4 pixels and all weights
// before and after them.
bool is_winograd_faster(const Device& device, const model::Layer& layer, const Tensor& source,
                        const Tensor& destination);

// Whether the name is oneDNN's for such an implementation: "jit_wino_4x3:avx512_core".
inline bool is_winograd(std::string_view implementation) {
  return implementation.find("wino") != std::string_view::npos;
}

// Returns make(algorithm, allow_empty), a descriptor of a primitive: with Winograd's algorithm if `wanted` and oneDNN
// has it, otherwise with the direct one. Lets dnnl::error through.
template <typename Make>
auto with_winograd(bool wanted, const Make& make) {
  if (wanted) {
    if (auto desc = make(dnnl::algorithm::convolution_winograd, true)) return desc;
  }
  return make(dnnl::algorithm::convolution_direct, false);
}

}  // namespace chexbench::engine::onednn
