// Launches batch norm on the device; the formulas are in statistics.hpp, norm_forward.hpp, norm_backward.hpp and
// norm_lazy.hpp. In all calls `scratch` has reduction_scratch_bytes() (channel_sums.hpp), whose first kTicketBytes were
// set to 0 once; one scratch serves all calls on one stream.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/kernels/statistics.hpp"

namespace chexbench::engine::cuda::kernels {

// Computes mean and biased variance, f32[channels] each, of the rows of x; and 1 / sqrt(variance + epsilon) if its
// pointer is not null.
struct StatisticsCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x;
  float* mean = nullptr;
  float* variance = nullptr;
  float* inverse_deviation = nullptr;
  float epsilon = 0;
  void* scratch = nullptr;
};
void launch_statistics(const StatisticsCall& call, Stream stream);

// Computes mean and biased variance of `channels` channels from the sums that a convolution returned.
void launch_moments(const MomentsOfSums& moments, int channels, Stream stream);

// Updates the running statistics of `channels` channels, those of all norms at once.
void launch_running_update(const RunningUpdate& update, std::int64_t channels, Stream stream);

// Writes the norm's scale and shift (y = scale x + shift), element_type[channels] each.
struct AffineCall {
  FloatType type = FloatType::f32;
  int channels = 0;
  NormParameters norm;
  void* scale = nullptr;
  void* shift = nullptr;
};
void launch_affine(const AffineCall& call, Stream stream);

// Does the same after computing the norm's mean and variance; `moments` must write them where call.norm reads them.
void launch_moments_and_affine(const MomentsOfSums& moments, const AffineCall& call, Stream stream);

// Computes y = clamp(norm(x) + residual); the residual is optional. y may be x or the residual.
struct NormalizeCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x, residual, y;
  NormParameters norm;
  Clamp clamp;
};
void launch_normalize(const NormalizeCall& call, Stream stream);

// The gradient of a norm's output, with the inputs and parameters of the norm.
struct NormGradientCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x, gradient;
  Matrix gradient2;  // Of a second reader of the output; optional.
  NormParameters norm;
  Clamp clamp;
};

// Outputs of the first pass: gradients of the norm's parameters, and b and c of its input's gradient
// (norm_backward.hpp), f32[channels] each.
struct NormSums {
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  bool frozen = false;  // The statistics are constants, so b and c are 0.
  void* scratch = nullptr;
};

// First pass. If a residual was added, `output` is forward's result, and `masked` receives the residual's gradient; it
// may be `gradient` or `gradient2`. Without a residual neither exists.
void launch_gradient_sums(const NormGradientCall& call, Matrix output, Matrix masked, const NormSums& sums,
                          Stream stream);
// Second pass: writes dx, which may be x. If `masked` is true, `call.gradient` must be the first pass's `masked`.
void launch_gradient_apply(const NormGradientCall& call, bool masked, const float* b, const float* c, Matrix dx,
                           Stream stream);

// First pass of a norm that reads a dense block. With `first`, total, b and c are overwritten; otherwise they are added
// to. `total_type` is f32 or the call's type. The call must not have a gradient2.
void launch_lazy_accumulate(const NormGradientCall& call, FloatType total_type, Matrix total, bool first,
                            const NormSums& sums, Stream stream);

// Last pass of a dense block: computes dx = total + b x + c. dx may be x, or total if that has x's type.
struct LazyApplyCall {
  FloatType type = FloatType::f32, total_type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x, total, dx;
  const float* b = nullptr;
  const float* c = nullptr;
};
void launch_lazy_apply(const LazyApplyCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
