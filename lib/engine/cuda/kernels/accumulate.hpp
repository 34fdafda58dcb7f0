// Gradients over the batches of a step: their sum is held in f32, whatever type they have. One call for each element.
#pragma once

#include <cstdint>

#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename G>
struct AddToSum {
  const G* gradient = nullptr;
  float* sum = nullptr;
  bool begins = false;  // whatever the sum was

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const float value = Element<G>::widen(gradient[i]);
    sum[i] = begins ? value : sum[i] + value;
  }
};

// Of the batches in the sum and the gradient's own.
template <typename G>
struct TakeMean {
  G* gradient = nullptr;
  const float* sum = nullptr;
  float share = 1;  // 1 / batches

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    gradient[i] = Element<G>::narrow((sum[i] + Element<G>::widen(gradient[i])) * share);
  }
};

}  // namespace chexbench::engine::cuda::kernels
