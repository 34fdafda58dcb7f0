// The convolutions of a network on the present device. Each pass runs the plan that was fastest when timed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_tuner.hpp"

namespace chexbench::engine::cuda {

// cuDNN's plans that split a weight gradient need much memory to be fast; PyTorch, which times plans too, has no limit.
inline constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{1} << 30;
// Returns the workspace that convolutions may use on a device with that much memory: 2 % of it, at most
// kMostWorkspaceBytes.
constexpr std::int64_t workspace_limit_bytes(std::size_t device_bytes) {
  return std::min(static_cast<std::int64_t>(device_bytes / 50), kMostWorkspaceBytes);
}

struct ConvolutionsConfig {
  spec::Precision precision = spec::Precision::f32;
  bool deterministic = false;
  bool fused = true;  // false: only plain patterns are used
  std::int64_t workspace_limit_bytes = kMostWorkspaceBytes;
  std::string cache_file;  // for timings, see plan_cache.hpp; if empty, all are measured and not saved
  TuningLimits tuning;
  std::vector<ConvShape> behind_norms;  // the shapes that may compute parts of the norm before them
  // The shapes that write into a dense block and might write a packed output instead (program/conv_fusions.hpp).
  // They follow norms; if their packed shapes may compute parts of these, behind_norms has the packed shapes.
  std::vector<ConvShape> in_blocks;
  JoinShapes behind_joins;  // those that may compute the residual join before them
};

// Where a forward pass writes the sums of y and y^2 over all rows: f32[out_channels] each, or null for no sums.
struct OutputSums {
  float* sum = nullptr;
  float* sum_of_squares = nullptr;
};

// If given, the convolution reads relu(scale x + shift) instead of x. Both arrays are element_type[in_channels]; both
// are null for no prologue.
struct Prologue {
  const void* scale = nullptr;
  const void* shift = nullptr;
};

// The norm and ReLU before a convolution, in backward: y = relu(weight inverse_deviation (x - mean) + bias), and the
// gradient of x is weight inverse_deviation g + b x + c, in which g is the gradient that passed the ReLU. All arrays
// except x are f32[in_channels]; x is null for no norm.
struct NormBefore {
  const void* x = nullptr;  // the norm's input, with shape and type of the convolution's input
  const float* mean = nullptr;
  const float* inverse_deviation = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  // Results.
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  float* scratch = nullptr;  // cuDNN writes weight inverse_deviation here
};

// A residual join before a convolution, in backward: y = relu(norm's result + residual). Its g is the gradient that
// passed that ReLU, of the data gradient and `other_gradient` together.
struct JoinBefore {
  NormBefore norm;
  const void* other_gradient = nullptr;
  // The addend: a tensor, or if it is null the result (without a ReLU) of a norm, whose g is the same.
  const void* residual = nullptr;
  NormBefore residual_norm;
};

// A residual join before a convolution, in forward: it reads relu(scale x + shift + residual), which it also writes to
// `joined`. If `residual` is null, the residual is residual_norm's scale x + shift of `residual_x`.
struct JoinPrologue {
  const void* x = nullptr;
  Prologue norm;
  const void* residual = nullptr;
  const void* residual_x = nullptr;
  Prologue residual_norm;
  void* joined = nullptr;
};

// Runs the tuned plans of a network's convolutions. Tensors are NHWC with the shape's pixel strides, in the type in
// which the precision computes; weights and their gradients are [out_channels][kernel][kernel][in_channels / groups]
// of that type. All pointers are device memory, which the caller owns. Calls queue work on the stream, wait for
// nothing, and may be captured into a CUDA graph. Not thread-safe.
class Convolutions {
 public:
  // Times the candidates that are not in the cache, which takes seconds, or minutes for a network of many shapes. The
  // device memory for timing is free again when it returns.
  // @throws DeviceError if there is no GPU, or if none of cuDNN's plans for a shape runs on it
  Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config);
  // The same on a device that is given as an interface (conv_candidates.hpp), as in tests.
  Convolutions(const std::vector<ConvShape>& shapes, const ConvolutionsConfig& config, const ConvDevice& device);
  ~Convolutions();
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;

  // Returns the bytes of the largest workspace that a chosen plan needs.
  std::size_t workspace_bytes() const;
  // The same for the plans of weight gradients alone.
  std::size_t weight_gradient_workspace_bytes() const;
  // Sets the workspace for all passes: at least workspace_bytes() of device memory, which must outlive their work.
  void use_workspace(void* workspace) { use_workspaces(workspace, workspace); }
  // Sets a separate workspace for the weight gradients, at least weight_gradient_workspace_bytes(), so that they can
  // run concurrently with the other passes.
  void use_workspaces(void* workspace, void* of_weight_gradients) {
    workspace_ = workspace;
    weight_gradient_workspace_ = of_weight_gradients;
  }

  // Returns whether passes of that shape can run `pattern`. A fused pattern only if it is faster than the separate
  // passes that it replaces, and never in deterministic mode. normalized_forward_statistics and
  // normalized_weight_gradient only if both together are faster. For this and all functions below: @throws
  // std::logic_error for a shape that the constructor was not given
  bool has(const ConvShape& shape, ConvPattern pattern) const;
  // Returns whether convolutions of that shape should write a packed output, which is then copied into the dense block:
  // only if all passes together are then faster. If so, the packed shape (with_packed_output()) has plans, too. False
  // for shapes that are not in the config's in_blocks, and in deterministic mode.
  bool packs(const ConvShape& shape) const;

  // The passes. @throws DeviceError if the plan does not start, std::logic_error if there is none: for a prologue, norm
  // or join without has(), or the data gradient of images

  // Writes `sums` if they are given and the shape has forward_statistics, or if there is a prologue, which needs them;
  // otherwise leaves them untouched.
  void forward(const ConvShape& shape, const void* x, const void* weight, void* y, const OutputSums& sums,
               const Prologue& prologue, kernels::Stream stream);
  // Writes the join's result, y and its sums.
  void joined_forward(const ConvShape& shape, const JoinPrologue& join, const void* weight, void* y,
                      const OutputSums& sums, kernels::Stream stream);
  // Computes dx; with a norm, dx is its g and the norm's results are written too.
  void data_gradient(const ConvShape& shape, const void* dy, const void* weight, void* dx, const NormBefore& norm,
                     kernels::Stream stream);
  // Writes the join's g to dx, which must differ from all tensors that it reads, and the results of the norm or norms.
  void data_gradient_join(const ConvShape& shape, const void* dy, const void* weight, void* dx, const JoinBefore& join,
                          kernels::Stream stream);
  // Computes dweight. With a prologue, x is the norm's input.
  void weight_gradient(const ConvShape& shape, const void* x, const void* dy, void* dweight, const Prologue& prologue,
                       kernels::Stream stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  void* workspace_ = nullptr;
  void* weight_gradient_workspace_ = nullptr;
};

}  // namespace chexbench::engine::cuda
