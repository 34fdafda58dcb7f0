// Queues the forward and backward of a network on a stream: walks over its program. forward.cpp and backward.cpp define
// them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "core/batch.hpp"
#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/program/addresses.hpp"
#include "engine/cuda/runtime/linear_products.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

// Where the weight gradients of convolutions are queued: on the main stream, or on a second one, where they run
// concurrently with the following passes of backward. Those are bound by memory, weight gradients by arithmetic.
//
// Work alternates: fork() and a weight gradient, then join() before the next one, so that at most one weight gradient
// runs next to the main stream, and the memory plan knows how long its operands are read (memory_plan.hpp). All work
// may be captured into a CUDA graph. Not thread-safe.
class WeightGradientStream {
 public:
  // Without `concurrent`, fork() returns the main stream and join() does nothing.
  // @throws DeviceError if CUDA cannot create the stream
  explicit WeightGradientStream(bool concurrent);

  // Returns the stream for a weight gradient, which will run after all work already queued on `main`.
  // For this and join(): @throws DeviceError if CUDA reports an error
  Stream fork(Stream main);
  // Makes later work of `main` wait for the weight gradient. Returns whether there was one to wait for.
  bool join(Stream main);
  // Whether a weight gradient that was not joined may be running.
  bool is_forked() const { return is_forked_; }

 private:
  struct Beside {
    OwnedStream stream;
    Event forked, done;
  };
  std::optional<Beside> beside_;
  bool is_forked_ = false;
};

// Queues forward and backward. Waits for nothing, and all work may be captured into a CUDA graph, except
// prepare_running(). References must outlive this object. Not thread-safe. All functions that take a stream @throws
// DeviceError if CUDA or one of its libraries refuses a launch
class Network {
 public:
  // With `concurrent_weight_gradients`, those of convolutions run on a second stream; the memory must be planned for
  // it.
  // @throws DeviceError if the engine cannot compute backward (backward_order.hpp), std::logic_error if
  // `convolutions` lacks a shape
  Network(const Addresses& addresses, Convolutions& convolutions, LinearProducts& linear,
          bool concurrent_weight_gradients = false);

  void forward(Stream stream);
  void forward(int node, Stream stream);  // queues one node of it

  // Called after the work that completes gradients has been queued: the first `matrices` and `vectors` elements of
  // the flat arrays are complete once the stream has reached that point.
  using OnComplete = std::function<void(std::size_t matrices, std::size_t vectors)>;
  // Queues backward; the loss must have written the gradient of the logits.
  void backward(Stream stream, const OnComplete& on_complete);

  // Copies the tables that update_running() reads to the device. Call it once, before the first step.
  void prepare_running(Stream stream);
  // Moves the running statistics of all norms towards the statistics of the last forward(). Does nothing if norms are
  // frozen.
  void update_running(Stream stream);

 private:
  const Node& node(int i) const;
  ConvShape shape(const Node& node) const;
  // Whether the sums for statistics node i are written by the convolution before it, or before the copy before it.
  bool has_output_sums(int i) const;
  float* channel_row(int row) const;  // one of the two rows of DeviceRegions::channel_rows
  // The prologue of convolution i if it computes the norm before it; else empty.
  Prologue prologue(int i) const;
  Prologue affine(int norm) const;
  kernels::AffineCall affine_call(int norm) const;
  // Whether node i is a norm and the node before it computes its statistics, and no others.
  bool follows_statistics(int i) const;
  void collect_inverse_deviations();
  // The statistics node that gives norm `norm` its mean and variance, and no others; -1 if there is none.
  int statistics_of(int norm) const;
  // Whether statistics node i does the remaining work of the norm after it, in the same launch.
  bool writes_affine(int i) const;

  void compute_statistics(int i, Stream stream);
  void convolve(int i, Stream stream);
  void convolve_join(int i, Stream stream);
  void normalize(int i, Stream stream);
  void normalize_and_pool(int i, Stream stream);
  void add_bias(const Node& node, Stream stream);
  void drop(const Node& node, const kernels::Matrix& from, const kernels::Matrix& to, Stream stream);

  void backward(const BackwardStep& step, Stream stream);
  // Empties the second place of a gradient if it is in use and will be written again (Target::second_again).
  void make_room(const Slice& slice, Target target, Stream stream);
  void add_second_gradient(const Slice& slice, Stream stream);
  void backward_norm(const BackwardStep& step, Stream stream);
  void backward_lazy_norm(const BackwardStep& step, Stream stream);
  void backward_pooled_norm(const BackwardStep& step, Stream stream);
  void apply_lazy(const Slice& in_block, const kernels::Matrix& dx, Stream stream);
  void backward_convolution(const BackwardStep& step, Stream stream);
  void backward_bias(const BackwardStep& step, Stream stream);
  void backward_linear(const BackwardStep& step, Stream stream);
  void backward_pool(const BackwardStep& step, Stream stream);
  kernels::NormGradientCall norm_gradient(const BackwardStep& step) const;
  kernels::NormSums norm_sums(const Node& node) const;
  // The data gradient of a convolution, alone or with the norm or the residual join before it.
  void backward_data(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream);
  void backward_join(const BackwardStep& step, const ConvShape& shape, const void* weight, Stream stream);
  // Norm `norm_node` for the data gradient after it. `scratch` has room for a value of each of its channels.
  NormBefore norm_before(int norm_node, float* scratch) const;

  const Addresses& addresses_;
  Convolutions& convolutions_;
  LinearProducts& linear_;
  WeightGradientStream weight_gradients_;
  const std::vector<BackwardStep> order_;
  std::vector<int> norms_before_;  // For each node, the norm whose sums the node's data gradient computes, or -1.
  // For each statistics node, a norm whose inverse deviation a data gradient reads, or -1.
  std::vector<int> inverse_deviations_;
};

// Queues the conversion of a batch on the device to the input of a program: from `images`, as delivered by the
// pipeline, to NHWC in the type of the activations, with kInputChannels channels. Batches of bytes are also normalized
// with ImageNet's mean and standard deviation. May be captured into a CUDA graph.
// @throws DeviceError if CUDA refuses the launch
void convert_images(const Addresses& addresses, Deliver deliver, const Region& images, kernels::Stream stream);

}  // namespace chexbench::engine::cuda
