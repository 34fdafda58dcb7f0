// The gradient of a convolution's weights, by the method of these three that is fastest on this device:
// - whole: oneDNN's convolution, over the batch and all threads. If it has only plain loops for these layouts, as for
//   maps of 2x2 with AVX2, its inputs are rearranged for a product of matrices: a fiftieth of the time;
// - a product of matrices: in NHWC, that of a 1x1 convolution is [outputs, pixels of all images] by [pixels of all
//   images, inputs], and oneDNN 2.6's product on AMX is 2 to 10 times as fast as its convolution;
// - in parts: each thread takes its images through a primitive of one thread, and the threads add up their sums.
//   oneDNN's bf16 convolution without AMX shares out each step of its loops, so its threads spin at a barrier: if other
//   processes use the same cores, it is up to ten times slower.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/onednn/parallel.hpp"
#include "engine/onednn/parameter_store.hpp"
#include "engine/onednn/planner.hpp"
#include "model/graph.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::onednn {

// A convolution, in oneDNN's terms.
struct ConvolutionShape {
  dnnl::memory::desc weights;  // f32, of any layout
  dnnl::memory::desc bias;     // empty if there is none
  dnnl::memory::dims stride, padding;
};

// Whether the name is that of oneDNN's reference implementations: unoptimized loops, hundreds of times slower than any
// other implementation.
bool is_reference(std::string_view implementation);

// The same values in another layout.
struct Rearrangement {
  dnnl::memory from, to;
  dnnl::reorder reorder;
  void run(const Device& device) { reorder.execute(device.stream, from, to); }
};

// Constructed, then bound, then computed any number of times, all from the thread that owns the team. Constructor and
// bind() let dnnl::error through.
class WeightGradient {
 public:
  // `forward` is a hint for oneDNN. `device` and the tensors must outlive this.
  WeightGradient(const Device& device, const model::Layer& layer, const ConvolutionShape& shape, const Tensor& source,
                 const Tensor& destination, const dnnl::convolution_forward::primitive_desc& forward);

  // The layout of the gradient, which is also that of the weights in the store.
  dnnl::memory::desc desc(const model::TensorInfo& weight) const;
  // oneDNN's name for the implementation: "jit:avx2".
  std::string implementation() const;
  std::size_t scratchpad_bytes() const;
  // `bias` may be null. `scratchpad` has scratchpad_bytes() while compute() runs.
  void bind(const ParameterSlot& weight, const ParameterSlot* bias, const Tensor& destination_gradient,
            std::byte* scratchpad);
  // Writes the gradients into the slots.
  void compute();

 private:
  // The images of one thread.
  struct Part {
    int first_image = 0;
    dnnl::memory::desc source, destination;
    dnnl::convolution_backward_weights::primitive_desc primitive_desc;
    dnnl::primitive primitive;
    std::unordered_map<int, dnnl::memory> arguments;
    dnnl::stream stream;
  };

  bool is_product(const model::Layer& layer) const;
  bool is_in_parts(const model::Layer& layer) const;
  void make_product();
  void make_parts(const ConvolutionShape& shape, const dnnl::convolution_forward::primitive_desc& forward);
  dnnl::convolution_backward_weights::primitive_desc convolution(
      const ConvolutionShape& shape, const dnnl::memory::desc& source, const dnnl::memory::desc& destination,
      const dnnl::convolution_forward::primitive_desc& forward,
      dnnl::algorithm algorithm = dnnl::algorithm::convolution_direct, bool allow_empty = false) const;
  void bind_whole(const ParameterSlot& weight, const ParameterSlot* bias, const Tensor& destination_gradient,
                  std::byte* scratchpad);
  void bind_parts(const ParameterSlot& weight, const Tensor& destination_gradient, std::byte* scratchpad);
  std::size_t part_bytes() const;
  void add_up() const;
  dnnl::memory wrap(const dnnl::memory::desc& desc, void* data) const { return {desc, device_.engine, data}; }

  const Device& device_;
  const Tensor& source_;
  const Tensor& destination_;
  dnnl::primitive_attr attributes_;
  dnnl::convolution_backward_weights::primitive_desc whole_;  // one of these three is filled
  std::optional<dnnl::matmul::primitive_desc> product_;
  std::vector<Part> parts_;
  std::vector<float*> sums_;                   // of the parts; the first is the gradient itself
  std::vector<Rearrangement> rearrangements_;  // of the inputs of `whole_`
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace chexbench::engine::onednn
