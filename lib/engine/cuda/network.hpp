// Forward and backward of a network as work queued on a stream: a walk over its program.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "engine/cuda/addresses.hpp"
#include "engine/cuda/convolutions.hpp"
#include "engine/cuda/linear_products.hpp"

namespace chexbench::engine::cuda {

// Where a norm's scale and shift lie for the convolution behind it.
struct AffineMemory {
  void* scale = nullptr;
  void* shift = nullptr;
};

// References must outlive it. Not thread-safe. Nothing waits, everything may be captured.
class Network {
 public:
  Network(const Addresses& addresses, Convolutions& convolutions, LinearProducts& linear);

  void forward(Stream stream);
  void forward(int node, Stream stream);  // one node of it

  // Called behind the work that completed gradients: so many elements of the flat arrays are complete by then.
  using OnComplete = std::function<void(std::size_t matrices, std::size_t vectors)>;
  // Begins with the gradient of the logits.
  void backward(Stream stream, const OnComplete& on_complete);

  // Once before the first step: tables that update_running() reads.
  void prepare_running(Stream stream);
  // The running statistics of all norms follow those of the last forward().
  void update_running(Stream stream);

 private:
  const Node& node(int i) const;
  ConvShape shape(const Node& node) const;
  // Whether the statistics of node i come with the convolution before it.
  bool has_output_sums(int i) const;
  float* channel_row(int row) const;  // of the two
  // Of convolution i where it computes the norm before it; none elsewhere.
  Prologue prologue(int i) const;
  AffineMemory affine_memory(int norm) const;

  void compute_statistics(int i, Stream stream);
  void convolve(int i, Stream stream);
  void normalize(int i, Stream stream);
  void add_bias(const Node& node, Stream stream);
  void drop(const Node& node, const kernels::Matrix& from, const kernels::Matrix& to, Stream stream);

  void backward(const BackwardStep& step, Stream stream);
  // Where its second place is taken and will be written once more.
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
  // Of convolution i whose data gradient takes the norm before it; none elsewhere.
  NormBefore norm_before(int i) const;

  const Addresses& addresses_;
  Convolutions& convolutions_;
  LinearProducts& linear_;
  const std::vector<BackwardStep> order_;
  std::vector<int> norms_before_;  // of each convolution, the norm whose sums come with its data gradient, or -1
};

}  // namespace chexbench::engine::cuda
