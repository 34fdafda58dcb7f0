// Batch norm on the device: formulas in statistics.hpp, norm_forward.hpp, norm_backward.hpp, norm_lazy.hpp.
// `scratch` holds reduction_scratch_bytes() (reduction.hpp); one scratch serves all calls of one stream.
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/kernels/statistics.hpp"

namespace chexbench::engine::cuda::kernels {

// mean and variance (biased), f32[channels], of the rows of x.
struct StatisticsCall {
  ElementType type = ElementType::f32;
  int rows = 0, channels = 0;
  Matrix x;
  float* mean = nullptr;
  float* variance = nullptr;
  void* scratch = nullptr;
};
void launch_statistics(const StatisticsCall& call, Stream stream);

void launch_moments(const MomentsOfSums& moments, int channels, Stream stream);

// The running statistics of `channels` channels, of all norms at once.
void launch_running_update(const RunningUpdate& update, std::int64_t channels, Stream stream);

// The norm as scale x + shift, element_type[channels] each.
struct AffineCall {
  ElementType type = ElementType::f32;
  int channels = 0;
  NormParameters norm;
  void* scale = nullptr;
  void* shift = nullptr;
};
void launch_affine(const AffineCall& call, Stream stream);

// 1 / sqrt(variance + epsilon), f32[channels].
void launch_inverse_deviation(const NormParameters& norm, int channels, float* inverse, Stream stream);

// y = clamp(norm(x) + residual); the residual need not exist. y may be x or the residual.
struct NormalizeCall {
  ElementType type = ElementType::f32;
  int rows = 0, channels = 0;
  Matrix x, residual, y;
  NormParameters norm;
  Clamp clamp;
};
void launch_normalize(const NormalizeCall& call, Stream stream);

// The gradient of a norm's output, and what is known about the norm.
struct NormGradientCall {
  ElementType type = ElementType::f32;
  int rows = 0, channels = 0;
  Matrix x, gradient;
  Matrix gradient2;  // of a second reader of the output, or none
  NormParameters norm;
  Clamp clamp;
};

// Gradients of the norm's parameters, f32[channels], and the b and c of its input's gradient.
struct NormSums {
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  bool frozen = false;
  void* scratch = nullptr;
};

// First pass. Where a residual was added, `output` is what forward wrote, and `masked` gets the residual's gradient; it
// may be `gradient` or `gradient2`. Else neither exists.
void launch_gradient_sums(const NormGradientCall& call, Matrix output, Matrix masked, const NormSums& sums,
                          Stream stream);
// Second pass: dx, which may be x. With `masked`, `call.gradient` is what the first pass wrote there.
void launch_gradient_apply(const NormGradientCall& call, bool masked, const float* b, const float* c, Matrix dx,
                           Stream stream);

// Dense blocks. `first`: total is written, and b and c too; else all three are added to. `total_type` is f32 or the
// call's. The call has no gradient2.
void launch_lazy_accumulate(const NormGradientCall& call, ElementType total_type, Matrix total, bool first,
                            const NormSums& sums, Stream stream);

// dx = total + b x + c. dx may be x, or total where that has x's type.
struct LazyApplyCall {
  ElementType type = ElementType::f32, total_type = ElementType::f32;
  int rows = 0, channels = 0;
  Matrix x, total, dx;
  const float* b = nullptr;
  const float* c = nullptr;
};
void launch_lazy_apply(const LazyApplyCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
