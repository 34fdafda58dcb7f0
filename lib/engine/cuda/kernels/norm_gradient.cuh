// Converts a NormGradientCall to the operations' types.
#pragma once

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_launch.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename T>
NormGradient<T> norm_gradient(const NormGradientCall& call, const Matrix& output) {
  return {rows_of<const T>(call.x),
          rows_of<const T>(output),
          rows_of<const T>(call.gradient),
          rows_of<const T>(call.gradient2),
          call.norm,
          call.clamp};
}

inline GradientFinish gradient_finish(const NormGradientCall& call, const NormSums& sums, bool add) {
  return {.norm = call.norm,
          .count = static_cast<double>(call.rows),
          .frozen = sums.frozen,
          .add = add,
          .weight_gradient = sums.weight_gradient,
          .bias_gradient = sums.bias_gradient,
          .b = sums.b,
          .c = sums.c};
}

}  // namespace chexbench::engine::cuda::kernels
