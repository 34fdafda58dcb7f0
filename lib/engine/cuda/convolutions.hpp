// The convolutions of a network on the present device: each pass runs the plan that was the fastest when it was timed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/conv_shape.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine::cuda {

struct ConvDevice;

struct ConvolutionsConfig {
  spec::Precision precision = spec::Precision::f32;
  bool deterministic = false;
  bool fused = true;  // false: plain patterns alone
  std::int64_t workspace_limit_bytes = std::int64_t{1} << 28;
  std::string cache_file;               // of timings, plan_cache.hpp; empty: all are made anew and forgotten
  std::vector<ConvShape> behind_norms;  // those of the shapes that may compute parts of a norm before them
};

// Sums of y and y^2 over the rows of each channel of a forward pass, f32[out_channels] each, or none.
struct OutputSums {
  float* sum = nullptr;
  float* sum_of_squares = nullptr;
};

// relu(scale x + shift) is what is convolved, instead of x: element_type[in_channels] each, or none.
struct Prologue {
  const void* scale = nullptr;
  const void* shift = nullptr;
};

// The norm and ReLU before a convolution, in backward: y = relu(weight inverse_deviation (x - mean) + bias), and x has
// the gradient weight inverse_deviation g + b x + c, with g what passed the ReLU. f32[in_channels] each but x; or none.
struct NormBefore {
  const void* x = nullptr;  // as the convolution's input
  const float* mean = nullptr;
  const float* inverse_deviation = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  // Results.
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  float* scratch = nullptr;  // cuDNN writes weight inverse_deviation there
};

// Tensors are NHWC with the shape's pixel strides, of the type that the precision computes in; weights and their
// gradients are [out_channels][kernel][kernel][in_channels] of that type. All pointers are device memory. Calls queue
// work on the stream, wait for nothing, and may be captured. Not thread-safe.
class Convolutions {
 public:
  // Times the candidates of whatever the cache does not know: seconds, or minutes for a network of many shapes.
  // Device memory for timing is free again when it returns.
  // @throws DeviceError where there is no GPU, or no plan of cuDNN's for a shape runs on it
  Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config);
  // The same on a device that answers through conv_candidates.hpp, as in tests.
  Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config, const ConvDevice& device);
  ~Convolutions();
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;

  // What the plans that were chosen need, the largest of them.
  std::size_t workspace_bytes() const;
  void use_workspace(void* workspace) { workspace_ = workspace; }

  // Whether forward() of that shape gives the sums of its outputs: only where a pass of its own took longer. Never in
  // deterministic mode. For this and all below: @throws std::logic_error for a shape that was not named at first
  bool gives_sums(const ConvShape& shape) const;
  // Whether forward() and weight_gradient() of that shape take a prologue: only where both of them together took less
  // time so than with a norm's own pass before. They then give the sums, too.
  bool takes_prologue(const ConvShape& shape) const;
  // `sums` are written where gives_sums() and both are given, or there is a prologue, else not touched.
  void forward(const ConvShape& shape, const void* x, const void* weight, void* y, const OutputSums& sums,
               const Prologue& prologue, kernels::Stream stream);
  // Whether data_gradient() of that shape takes a norm: only where that took less time than the norm's own pass for
  // sums behind it. Never in deterministic mode.
  bool takes_norm_before(const ConvShape& shape) const;
  // Not for shapes that read images. With a norm, dx is its g.
  void data_gradient(const ConvShape& shape, const void* dy, const void* weight, void* dx, const NormBefore& norm,
                     kernels::Stream stream);
  void weight_gradient(const ConvShape& shape, const void* x, const void* dy, void* dweight, const Prologue& prologue,
                       kernels::Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  void* workspace_ = nullptr;
};

}  // namespace chexbench::engine::cuda
