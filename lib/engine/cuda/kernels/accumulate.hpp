// Sums gradients over the batches of a step. The sum is f32 for gradients of any type. Each operation is called once
// per element.
#pragma once

#include <cstdint>

#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename G>
struct AddToSum {
  const G* gradient = nullptr;
  float* sum = nullptr;
  bool begins = false;  // Overwrites the old sum.

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const float value = Element<G>::widen(gradient[i]);
    sum[i] = begins ? value : sum[i] + value;
  }
};

// Replaces the gradient by the mean over the batches in the sum and its own.
template <typename G>
struct TakeMean {
  G* gradient = nullptr;
  const float* sum = nullptr;
  float share = 1;  // 1 / number of batches.

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    gradient[i] = Element<G>::narrow((sum[i] + Element<G>::widen(gradient[i])) * share);
  }
};

}  // namespace chexbench::engine::cuda::kernels
