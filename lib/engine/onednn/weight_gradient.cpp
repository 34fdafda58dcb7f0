#include "engine/onednn/weight_gradient.hpp"

#include <algorithm>
#include <utility>

#include "engine/onednn/convolution_op.hpp"
#include "engine/onednn/parallel.hpp"
#include "engine/onednn/primitive_descs.hpp"

namespace chexbench::engine::onednn {
namespace {

using dnnl::memory;

constexpr std::size_t kSummedAtOnce = 16384;  // floats: stays in the cache, and outweighs the start of a thread

// The first images of a tensor.
memory::desc first_images(const Tensor& tensor, int images) {
  memory::dims dims = dims_of(tensor.desc);
  dims.front() = images;
  return tensor.desc.submemory_desc(dims, memory::dims(dims.size(), 0));
}

std::byte* from_image(const Tensor& tensor, int image) {
  return tensor.data +
         tensor.desc.get_size() / static_cast<std::size_t>(tensor.shape.images) * static_cast<std::size_t>(image);
}

memory::desc of_any_layout(const Tensor& tensor) {
  return {dims_of(tensor.desc), type_of(tensor.desc), memory::format_tag::any};
}

}  // namespace

bool is_reference(std::string_view implementation) { return implementation.starts_with("ref"); }

WeightGradient::WeightGradient(const Device& device, const model::Layer& layer, const ConvolutionShape& shape,
                               const Tensor& source, const Tensor& destination,
                               const dnnl::convolution_forward::primitive_desc& forward)
    : device_(device), source_(source), destination_(destination) {
  attributes_.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (is_product(layer)) {
    make_product();
  } else if (is_in_parts(layer)) {
    make_parts(shape, forward);
  } else {
    const bool winograd = is_winograd_faster(device, layer, source, destination);
    whole_ = with_winograd(winograd, [&](dnnl::algorithm algorithm, bool allow_empty) {
      return convolution(shape, source.desc, destination.desc, forward, algorithm, allow_empty);
    });
    if (is_reference(whole_.impl_info_str())) {
      whole_ = convolution(shape, of_any_layout(source), of_any_layout(destination), forward);
    }
  }
}

bool WeightGradient::is_product(const model::Layer& layer) const {
  return source_.layout == Layout::channels_last && layer.kernel == 1 && layer.stride == 1 && layer.padding == 0 &&
         layer.groups == 1 && !layer.bias;
}

bool WeightGradient::is_in_parts(const model::Layer& layer) const {
  const int threads = parallel_threads();
  return device_.type == FloatType::bf16 && source_.layout == Layout::blocked && layer.kernel > 1 &&
         layer.groups == 1 && !layer.bias && threads > 1 && source_.shape.images >= threads;
}

void WeightGradient::make_product() {
  const memory::dim inputs = source_.shape.channels, outputs = destination_.shape.channels;
  const memory::dim pixels = memory::dim{source_.shape.images} * source_.shape.pixels();
  const memory::desc transposed({outputs, pixels}, device_.data_type(), memory::format_tag::ba);
  const memory::desc source({pixels, inputs}, device_.data_type(), memory::format_tag::ab);
  const memory::desc gradient({outputs, inputs}, memory::data_type::f32, memory::format_tag::ab);
  product_ = describe<dnnl::matmul>(device_.engine, attributes_, transposed, source, gradient);
}

void WeightGradient::make_parts(const ConvolutionShape& shape,
                                const dnnl::convolution_forward::primitive_desc& forward) {
  const int threads = parallel_threads(), images = source_.shape.images;
  const OneThread one_thread;  // oneDNN plans a primitive for the current number of threads
  ConvolutionShape same = shape;
  for (int thread = 0; thread < threads; ++thread) {
    const int first = images * thread / threads, count = images * (thread + 1) / threads - first;
    Part part{.first_image = first,
              .source = first_images(source_, count),
              .destination = first_images(destination_, count),
              .primitive_desc = {},
              .primitive = {},
              .arguments = {},
              .stream = dnnl::stream(device_.engine)};
    part.primitive_desc = convolution(same, part.source, part.destination, forward);
    same.weights = part.primitive_desc.diff_weights_desc();  // all parts are added up, so they have one layout
    parts_.push_back(std::move(part));
  }
}

dnnl::convolution_backward_weights::primitive_desc WeightGradient::convolution(
    const ConvolutionShape& shape, const memory::desc& source, const memory::desc& destination,
    const dnnl::convolution_forward::primitive_desc& forward, dnnl::algorithm algorithm, bool allow_empty) const {
  return describe_backward<dnnl::convolution_backward_weights>(device_.engine, attributes_, forward, allow_empty,
                                                               algorithm, source, shape.weights, shape.bias,
                                                               destination, shape.stride, shape.padding, shape.padding);
}

memory::desc WeightGradient::desc(const model::TensorInfo& weight) const {
  if (product_) return {{weight.shape.begin(), weight.shape.end()}, memory::data_type::f32, memory::format_tag::oihw};
  return parts_.empty() ? whole_.diff_weights_desc() : parts_.front().primitive_desc.diff_weights_desc();
}

std::string WeightGradient::implementation() const {
  if (product_) return product_->impl_info_str();
  return (parts_.empty() ? whole_ : parts_.front().primitive_desc).impl_info_str();
}

// A thread's memory: oneDNN's scratchpad and its own sum.
std::size_t WeightGradient::part_bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes = std::max(bytes, part.primitive_desc.scratchpad_desc().get_size());
  return whole_lines(bytes) + whole_lines(parts_.front().primitive_desc.diff_weights_desc().get_size());
}

std::size_t WeightGradient::scratchpad_bytes() const {
  if (product_) return product_->scratchpad_desc().get_size();
  if (!parts_.empty()) return parts_.size() * part_bytes();
  std::size_t bytes = whole_lines(whole_.scratchpad_desc().get_size());
  if (whole_.src_desc() != source_.desc) bytes += whole_lines(whole_.src_desc().get_size());
  if (whole_.diff_dst_desc() != destination_.desc) bytes += whole_lines(whole_.diff_dst_desc().get_size());
  return bytes;
}

void WeightGradient::bind(const ParameterSlot& weight, const ParameterSlot* bias, const Tensor& destination_gradient,
                          std::byte* scratchpad) {
  if (!parts_.empty()) return bind_parts(weight, destination_gradient, scratchpad);
  if (product_) {
    primitive_ = dnnl::matmul(*product_);
    arguments_ = {{DNNL_ARG_SRC, wrap(product_->src_desc(), destination_gradient.data)},
                  {DNNL_ARG_WEIGHTS, wrap(product_->weights_desc(), source_.data)},
                  {DNNL_ARG_DST, wrap(product_->dst_desc(), weight.gradient)},
                  {DNNL_ARG_SCRATCHPAD, wrap(product_->scratchpad_desc(), scratchpad)}};
    return;
  }
  bind_whole(weight, bias, destination_gradient, scratchpad);
}

// Rearranged tensors are placed after oneDNN's part of the scratchpad.
void WeightGradient::bind_whole(const ParameterSlot& weight, const ParameterSlot* bias,
                                const Tensor& destination_gradient, std::byte* scratchpad) {
  std::byte* free = scratchpad + whole_lines(whole_.scratchpad_desc().get_size());
  const auto as = [&](const memory::desc& wanted, const memory& from) {
    if (wanted == from.get_desc()) return from;
    memory to = wrap(wanted, free);
    free += whole_lines(wanted.get_size());
    rearrangements_.push_back({from, to, dnnl::reorder(from, to)});
    return to;
  };
  primitive_ = dnnl::convolution_backward_weights(whole_);
  arguments_ = {{DNNL_ARG_SRC, as(whole_.src_desc(), wrap(source_.desc, source_.data))},
                {DNNL_ARG_DIFF_DST, as(whole_.diff_dst_desc(), wrap(destination_.desc, destination_gradient.data))},
                {DNNL_ARG_DIFF_WEIGHTS, wrap(weight.desc, weight.gradient)},
                {DNNL_ARG_SCRATCHPAD, wrap(whole_.scratchpad_desc(), scratchpad)}};
  if (bias != nullptr) arguments_[DNNL_ARG_DIFF_BIAS] = wrap(bias->desc, bias->gradient);
}

void WeightGradient::bind_parts(const ParameterSlot& weight, const Tensor& destination_gradient,
                                std::byte* scratchpad) {
  const OneThread one_thread;
  for (Part& part : parts_) {
    std::byte* const own = scratchpad + sums_.size() * part_bytes();
    std::byte* const sum = own + part_bytes() - whole_lines(weight.desc.get_size());
    sums_.push_back(sums_.empty() ? weight.gradient : reinterpret_cast<float*>(sum));
    part.primitive = dnnl::convolution_backward_weights(part.primitive_desc);
    part.arguments = {{DNNL_ARG_SRC, wrap(part.source, from_image(source_, part.first_image))},
                      {DNNL_ARG_DIFF_DST, wrap(part.destination, from_image(destination_gradient, part.first_image))},
                      {DNNL_ARG_DIFF_WEIGHTS, wrap(weight.desc, sums_.back())},
                      {DNNL_ARG_SCRATCHPAD, wrap(part.primitive_desc.scratchpad_desc(), own)}};
  }
}

void WeightGradient::compute() {
  if (parts_.empty()) {
    for (Rearrangement& rearrangement : rearrangements_) rearrangement.run(device_);
    return primitive_.execute(device_.stream, arguments_);
  }
  parallel_for(static_cast<int>(parts_.size()), [this](int i) {
    Part& part = parts_[static_cast<std::size_t>(i)];
    part.primitive.execute(part.stream, part.arguments);
  });
  add_up();
}

// In the order of the threads, so that the same number of threads always gives the same bits.
void WeightGradient::add_up() const {
  const std::size_t count = parts_.front().primitive_desc.diff_weights_desc().get_size() / sizeof(float);
  parallel_for(static_cast<int>((count + kSummedAtOnce - 1) / kSummedAtOnce), [&](int chunk) {
    const std::size_t begin = static_cast<std::size_t>(chunk) * kSummedAtOnce;
    const std::size_t end = std::min(begin + kSummedAtOnce, count);
    for (std::size_t part = 1; part < sums_.size(); ++part) {
      for (std::size_t i = begin; i < end; ++i) sums_.front()[i] += sums_[part][i];
    }
  });
}

}  // namespace chexbench::engine::onednn
