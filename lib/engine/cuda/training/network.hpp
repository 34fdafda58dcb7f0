// Queues the forward and backward of a network on a stream: a walk over its program.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/runtime/linear_products.hpp"

namespace chexbench::engine::cuda {

// Where the scale and shift of a norm are, for the convolution that computes it: in the type of the activations, one
// value for each channel of the norm.
struct AffineMemory {
  void* scale = nullptr;
  void* shift = nullptr;
};

// Queues forward and backward. Waits for nothing, and all work may be captured into a CUDA graph, except
// prepare_running(). References must outlive this object. Not thread-safe. All functions that take a stream @throws
// DeviceError if CUDA or one of its libraries refuses a launch
class Network {
 public:
  // @throws DeviceError if the engine cannot compute backward (backward_order.hpp), std::logic_error if
  // `convolutions` lacks a shape
  Network(const Addresses& addresses, Convolutions& convolutions, LinearProducts& linear);

  void forward(Stream stream);
  void forward(int node, Stream stream);  // queues one node of it

  // Called after the work that completes gradients has been queued: the first `matrices` and `vectors` elements of
  // the flat arrays are complete once the stream has reached that point.
  using OnComplete = std::function<void(std::size_t matrices, std::size_t vectors)>;
  // Queues backward; the gradient of the logits must be there, as the loss writes it.
  void backward(Stream stream, const OnComplete& on_complete);

  // Copies the tables that update_running() reads to the device. Call it once, before the first step.
  void prepare_running(Stream stream);
  // Moves the running statistics of all norms towards the statistics of the last forward(). Does nothing if norms are
  // frozen.
  void update_running(Stream stream);

 private:
  const Node& node(int i) const;
  ConvShape shape(const Node& node) const;
  // Whether the sums for statistics node i are written by the convolution before it.
  bool has_output_sums(int i) const;
  float* channel_row(int row) const;  // one of the two rows of DeviceRegions::channel_rows
  // The prologue of convolution i if it computes the norm before it; else empty.
  Prologue prologue(int i) const;
  AffineMemory affine_memory(int norm) const;
  Prologue affine(int norm) const;

  void compute_statistics(int i, Stream stream);
  void convolve(int i, Stream stream);
  void convolve_join(int i, Stream stream);
  void normalize(int i, Stream stream);
  void add_bias(const Node& node, Stream stream);
  void drop(const Node& node, const kernels::Matrix& from, const kernels::Matrix& to, Stream stream);

  void backward(const BackwardStep& step, Stream stream);
  // Empties the second place of a gradient if it is in use and will be written again (Target::second_again).
  void make_room(const Slice& slice, Target target, Stream stream);
  void add_second_gradient(const Slice& slice, Stream stream);
  void backward_norm(const BackwardStep& step, Stream stream);
  void backward_lazy_norm(const BackwardStep& step, Stream stream);
  void apply_lazy(const Node& node, Stream stream);
  void backward_convolution(const BackwardStep& step, Stream stream);
  void backward_bias(const BackwardStep& step, Stream stream);
  void backward_linear(const BackwardStep& step, Stream stream);
  void backward_pool(const BackwardStep& step, Stream stream);
  kernels::NormGradientCall norm_gradient(const BackwardStep& step) const;
  kernels::NormSums norm_sums(const Node& node) const;
  // The data gradient of a convolution, alone or with the norm or the residual join before it.
  void backward_data(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream);
  void backward_join(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream);
  // Norm `norm_node` for the data gradient after it. Both arrays have room for a value of each of its channels.
  NormBefore norm_before(int norm_node, float* inverse_deviation, float* scratch) const;

  const Addresses& addresses_;
  Convolutions& convolutions_;
  LinearProducts& linear_;
  const std::vector<BackwardStep> order_;
  std::vector<int> norms_before_;  // For each node, the norm whose sums the node's data gradient computes, or -1.
};

}  // namespace chexbench::engine::cuda
