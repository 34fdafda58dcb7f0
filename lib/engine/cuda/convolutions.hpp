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
  std::vector<ConvShape> behind_norms;  // those of the shapes that may take a prologue
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
  // Not for shapes that read images.
  void data_gradient(const ConvShape& shape, const void* dy, const void* weight, void* dx, kernels::Stream stream);
  void weight_gradient(const ConvShape& shape, const void* x, const void* dy, void* dweight, const Prologue& prologue,
                       kernels::Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  void* workspace_ = nullptr;
};

}  // namespace chexbench::engine::cuda
