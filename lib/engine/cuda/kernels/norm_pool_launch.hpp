// Launches a norm, its activation and a pool as one; the formulas are in norm_pool.hpp. See pool_check.hpp for the
// supported pools; for others, all launchers throw DeviceError.
#pragma once

#include "engine/cuda/kernels/norm_launch.hpp"
#include "engine/cuda/kernels/pool_launch.hpp"

namespace chexbench::engine::cuda::kernels {

// Forward: pool.x is the norm's input and pool.y the pool's output, which may not overlap.
struct NormPoolCall {
  PoolCall pool;
  NormParameters norm;
  Clamp clamp;
};
// `winner` is as in launch_max_pool().
void launch_norm_max_pool(const NormPoolCall& call, std::uint8_t* winner, Stream stream);
void launch_norm_average_pool(const NormPoolCall& call, Stream stream);

// Backward of both, with the passes of norm_launch.hpp for a norm without a residual: `call.gradient` is the gradient
// of the pool's output, one row for each output. There is no gradient2.
struct PoolBetween {
  int images = 0;
  PoolShape shape;
  const std::uint8_t* winner = nullptr;  // Written by forward of a max pool; null for an average pool.
};
void launch_pooled_gradient_sums(const NormGradientCall& call, const PoolBetween& pool, const NormSums& sums,
                                 Stream stream);
// dx may be x.
void launch_pooled_gradient_apply(const NormGradientCall& call, const PoolBetween& pool, const float* b, const float* c,
                                  Matrix dx, Stream stream);
// For the norm that backward reaches first in a dense block: total, of the call's type, and b and c are overwritten.
void launch_pooled_lazy_accumulate(const NormGradientCall& call, const PoolBetween& pool, Matrix total,
                                   const NormSums& sums, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
