#include "engine/onednn/convolution_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "engine/onednn/parallel.hpp"
#include "engine/onednn/primitive_descs.hpp"

namespace chexbench::engine::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

memory::desc any_weights(const model::TensorInfo& weight, int groups, memory::data_type type) {
  memory::dims dims(weight.shape.begin(), weight.shape.end());
  if (groups > 1) {
    dims.front() /= groups;
    dims.insert(dims.begin(), groups);
  }
  return {dims, type, memory::format_tag::any};
}

std::optional<model::TensorInfo> bias_of(const model::Layer& layer, const model::TensorInfo& weight) {
  if (!layer.bias) return std::nullopt;
  return model::TensorInfo{layer.name + ".bias", {weight.shape.front()}};
}

// Whether oneDNN would multiply matrices: how it divides them among threads changes the low bits of the sums. Its other
// implementations divide no sum of forward.
bool is_product(const dnnl::convolution_forward::primitive_desc& desc) {
  return std::string_view(desc.impl_info_str()).find("gemm:") != std::string_view::npos;
}

// Both from measurements of oneDNN 2.6.3 on a Xeon, of ResNet50's, DenseNet121's, VGG16's and Inception v3's layers.
// With fewer pixels in all images, the transformation of the weights costs as much as it saves.
constexpr std::int64_t kPixels = 768;
// With fewer products per element of a window, its passes begin and end too often, as for DenseNet121's 16 x 7x7 of 128
// and 32 channels.
constexpr std::int64_t kProducts = 12'000'000;

}  // namespace

ConvolutionOp::ConvolutionOp(const Device& device, const model::Layer& layer, model::TensorInfo weight,
                             const PassMode& mode, Tensor& source, Tensor& destination, bool needs_source_gradient,
                             const Tensor& scratchpad)
    : device_(device),
      kind_(fmt::format("{}convolution {}x{}", layer.groups > 1 ? "depthwise " : "", layer.kernel, layer.kernel)),
      weight_(std::move(weight)),
      bias_(bias_of(layer, weight_)),
      mode_(mode),
      source_(source),
      destination_(destination),
      needs_source_gradient_(needs_source_gradient),
      scratchpad_(scratchpad) {
  const memory::dims stride{layer.stride, layer.stride}, padding{layer.padding, layer.padding};
  const auto weights = any_weights(weight_, layer.groups, device.data_type());
  const auto weights_f32 = any_weights(weight_, layer.groups, memory::data_type::f32);
  // A default-constructed descriptor tells oneDNN that there is no bias.
  const memory::desc bias =
      bias_ ? memory::desc(bias_->shape, memory::data_type::f32, memory::format_tag::a) : memory::desc();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto forward_into = [&](const memory::desc& to) {
    return describe<dnnl::convolution_forward>(device.engine, attributes, dnnl::prop_kind::forward_training,
                                               algorithm::convolution_direct, source.desc, weights, bias, to, stride,
                                               padding, padding);
  };
  const auto direct = forward_into(destination.desc);
  // With AVX2, oneDNN 2.6 and 3.7 have nothing else for three input channels, blocks of eight output channels, and
  // windows as large as AlexNet's.
  forward_desc_ = is_reference(direct.impl_info_str())
                      ? forward_into({dims_of(destination.desc), device.data_type(), memory::format_tag::any})
                      : direct;
  if (is_product(forward_desc_)) {
    const OneThread alone;
    forward_desc_on_one_thread_ = forward_into(forward_desc_.dst_desc());
  }
  weight_gradient_.emplace(device, layer, ConvolutionShape{weights_f32, bias, stride, padding}, source, destination,
                           direct);
  if (!needs_source_gradient_) return;
  data_desc_ =
      with_winograd(is_winograd_faster(device, layer, source, destination), [&](algorithm algorithm, bool allow_empty) {
        return describe_backward<dnnl::convolution_backward_data>(device.engine, attributes, direct, allow_empty,
                                                                  algorithm, source.desc, weights, destination.desc,
                                                                  stride, padding, padding);
      });
}

bool ConvolutionOp::uses_winograd() const {
  return is_winograd(data_implementation()) || is_winograd(weights_implementation());
}

void ConvolutionOp::plan_forward(Planner& planner) {
  planner.use(source_);
  planner.use(destination_);
}

void ConvolutionOp::plan_backward(Planner& planner, ParameterStore& store) {
  destination_gradient_ = planner.use_gradients(destination_).at(0);
  planner.use(source_);
  add_parameters(store);
  if (!needs_source_gradient_) return;
  source_gradient_ = &planner.new_gradient(source_);
}

void ConvolutionOp::add_parameters(ParameterStore& store) {
  slot_ = &store.add(weight_, weight_gradient_->desc(weight_));
  if (bias_) bias_slot_ = &store.add_vector(*bias_);
}

memory ConvolutionOp::weights_as(const memory::desc& desc) {
  memory flat = wrap(slot_->desc, slot_->weights);
  if (desc == slot_->desc) return flat;
  for (const Rearrangement& copy : copies_) {
    if (copy.to.get_desc() == desc) return copy.to;
  }
  memory to(desc, device_.engine);
  copies_.push_back({flat, to, dnnl::reorder(flat, to)});
  return to;
}

void ConvolutionOp::bind() {
  forward_ = dnnl::convolution_forward(forward_desc_);
  forward_arguments_ = {{DNNL_ARG_SRC, wrap(source_.desc, source_.data)},
                        {DNNL_ARG_WEIGHTS, weights_as(forward_desc_.weights_desc())},
                        {DNNL_ARG_DST, wrap(destination_.desc, destination_.data)},
                        {DNNL_ARG_SCRATCHPAD, wrap(forward_desc_.scratchpad_desc(), scratchpad_.data)}};
  if (is_rearranged()) {
    const memory from = wrap(forward_desc_.dst_desc(), scratchpad_.data + rearranged_offset());
    const memory to = forward_arguments_[DNNL_ARG_DST];
    forward_arguments_[DNNL_ARG_DST] = from;
    rearrangement_ = {from, to, dnnl::reorder(from, to)};
  }
  if (bias_slot_ != nullptr) forward_arguments_[DNNL_ARG_BIAS] = wrap(bias_slot_->desc, bias_slot_->weights);
  if (forward_desc_on_one_thread_) {
    const OneThread alone;
    forward_on_one_thread_ = dnnl::convolution_forward(*forward_desc_on_one_thread_);
    arguments_on_one_thread_ = forward_arguments_;
    arguments_on_one_thread_[DNNL_ARG_WEIGHTS] = weights_as(forward_desc_on_one_thread_->weights_desc());
    arguments_on_one_thread_[DNNL_ARG_SCRATCHPAD] =
        wrap(forward_desc_on_one_thread_->scratchpad_desc(), scratchpad_.data);
  }
  if (destination_gradient_ != nullptr) bind_backward();
}

void ConvolutionOp::bind_backward() {
  weight_gradient_->bind(*slot_, bias_slot_, *destination_gradient_, scratchpad_.data);
  if (!needs_source_gradient_) return;
  data_ = dnnl::convolution_backward_data(data_desc_);
  data_arguments_ = {{DNNL_ARG_DIFF_DST, wrap(destination_.desc, destination_gradient_->data)},
                     {DNNL_ARG_WEIGHTS, weights_as(data_desc_.weights_desc())},
                     {DNNL_ARG_DIFF_SRC, wrap(source_gradient_->desc, source_gradient_->data)},
                     {DNNL_ARG_SCRATCHPAD, wrap(data_desc_.scratchpad_desc(), scratchpad_.data)}};
}

void ConvolutionOp::forward() {
  if (mode_.any_threads && forward_desc_on_one_thread_) {
    const OneThread alone;
    forward_on_one_thread_.execute(device_.stream, arguments_on_one_thread_);
  } else {
    forward_.execute(device_.stream, forward_arguments_);
  }
  if (rearrangement_) rearrangement_->run(device_);
}

void ConvolutionOp::backward() {
  // The order of the two does not matter: buckets are handed over when both are done (Network::backward).
  weight_gradient_->compute();
  if (needs_source_gradient_) data_.execute(device_.stream, data_arguments_);
}

void ConvolutionOp::refresh_weights() {
  for (Rearrangement& copy : copies_) copy.run(device_);
}

std::size_t ConvolutionOp::held_bytes() const {
  std::size_t bytes = 0;
  for (const Rearrangement& copy : copies_) bytes += copy.to.get_desc().get_size();
  return bytes;
}

// The intermediate result is placed after the part of the scratchpad that forward itself needs.
std::size_t ConvolutionOp::rearranged_offset() const { return whole_lines(forward_scratchpad_bytes()); }

std::size_t ConvolutionOp::forward_scratchpad_bytes() const {
  const std::size_t on_one_thread =
      forward_desc_on_one_thread_ ? forward_desc_on_one_thread_->scratchpad_desc().get_size() : 0;
  return std::max(forward_desc_.scratchpad_desc().get_size(), on_one_thread);
}

std::size_t ConvolutionOp::scratchpad_bytes() const {
  const std::size_t forward =
      is_rearranged() ? rearranged_offset() + forward_desc_.dst_desc().get_size() : forward_scratchpad_bytes();
  if (destination_gradient_ == nullptr) return forward;
  const std::size_t data = needs_source_gradient_ ? data_desc_.scratchpad_desc().get_size() : 0;
  return std::max({forward, weight_gradient_->scratchpad_bytes(), data});
}

bool is_winograd_faster(const Device& device, const model::Layer& layer, const Tensor& source,
                        const Tensor& destination) {
  if (device.type != FloatType::f32 || source.layout != Layout::blocked) return false;
  if (layer.kernel != 3 || layer.stride != 1 || layer.groups != 1) return false;
  const std::int64_t inputs = source.shape.channels, outputs = destination.shape.channels;
  const std::int64_t pixels = std::int64_t{destination.shape.images} * destination.shape.pixels();
  if (inputs % device.block != 0 || outputs % device.block != 0) return false;
  return std::min(inputs, outputs) >= 32 && pixels >= kPixels && pixels * inputs * outputs >= kProducts;
}

}  // namespace chexbench::engine::onednn
