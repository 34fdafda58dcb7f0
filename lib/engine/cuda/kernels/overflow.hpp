// Checks whether any gradient is infinite or NaN.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

CHEXBENCH_HOST_DEVICE inline bool finite(float value) { return fabsf(value) <= FLT_MAX; }  // False for NaN.

// Writes 1 to *flag if a gradient is infinite or NaN, else writes nothing. Several threads may write, since all write
// the same value.
template <typename G>
struct OverflowCheck {
  static constexpr int kWidth = kVectorWidth<G>;
  const G* gradient = nullptr;  // Aligned to 16 bytes.
  std::int64_t count = 0;
  std::int32_t* flag = nullptr;

  CHEXBENCH_HOST_DEVICE static std::int64_t calls(std::int64_t count) { return (count + kWidth - 1) / kWidth; }

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t call) const {
    const std::int64_t i = call * kWidth;
    bool good = true;
    if (i + kWidth <= count) {
      const auto values = load<kWidth>(gradient + i);
      for (int k = 0; k < kWidth; ++k) good = good & finite(widened(values, k));  // & instead of && avoids branches.
    } else {
      for (std::int64_t rest = i; rest < count; ++rest) good = good & finite(Element<G>::widen(gradient[rest]));
    }
    if (!good) *flag = 1;
  }
};

}  // namespace chexbench::engine::cuda::kernels
