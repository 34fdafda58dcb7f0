// The norm of all gradients, by which they are clipped: sums of squares of each block, then of all blocks. The order of
// all sums is fixed, so equal gradients give equal bits.
#pragma once

#include <cstdint>

#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/reduction.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda::kernels {

// Blocks that read a flat array of gradients. More would not read it faster on current GPUs.
inline constexpr int kNormBlocks = 512;

// A sum of doubles over the threads of a block.
struct DoubleScratch {
  double sum[kThreads];
};
CHEXBENCH_HOST_DEVICE inline void fold_sum(int thread, int active, DoubleScratch& scratch) {
  const int other = thread + folded(active);
  if (other < active) scratch.sum[thread] += scratch.sum[other];
}

// A reduction of kNormBlocks blocks.
template <typename G>
struct GradientSquares {
  static constexpr int kThreads = kernels::kThreads;
  static constexpr int kWidth = kVectorWidth<G>;
  using Scratch = DoubleScratch;

  const G* gradient = nullptr;  // Aligned to 16 bytes.
  std::int64_t count = 0;
  double* partials = nullptr;  // [kNormBlocks]

  CHEXBENCH_HOST_DEVICE int lanes() const { return kThreads; }

  CHEXBENCH_HOST_DEVICE void gather(int block, int thread, Scratch& scratch) const {
    const std::int64_t step = std::int64_t{kNormBlocks} * kThreads * kWidth;
    double sum = 0;
    for (std::int64_t i = (std::int64_t{block} * kThreads + thread) * kWidth; i < count; i += step) {
      if (i + kWidth <= count) {
        const auto values = load<kWidth>(gradient + i);
        for (int k = 0; k < kWidth; ++k) add_square(widened(values, k), sum);
      } else {
        for (std::int64_t rest = i; rest < count; ++rest) add_square(Element<G>::widen(gradient[rest]), sum);
      }
    }
    scratch.sum[thread] = sum;
  }
  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const { fold_sum(thread, active, scratch); }
  CHEXBENCH_HOST_DEVICE void publish(int block, int thread, const Scratch& scratch) const {
    if (thread == 0) partials[block] = scratch.sum[0];
  }

 private:
  CHEXBENCH_HOST_DEVICE static void add_square(float value, double& sum) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
};

// A reduction of one block.
struct GradientNorm {
  static constexpr int kThreads = kernels::kThreads;
  using Scratch = DoubleScratch;

  const double* partials = nullptr;
  int count = 0;
  StepScalars* scalars = nullptr;

  CHEXBENCH_HOST_DEVICE int lanes() const { return kThreads; }

  CHEXBENCH_HOST_DEVICE void gather(int, int thread, Scratch& scratch) const {
    double sum = 0;
    for (int i = thread; i < count; i += kThreads) sum += partials[i];
    scratch.sum[thread] = sum;
  }
  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const { fold_sum(thread, active, scratch); }
  CHEXBENCH_HOST_DEVICE void publish(int, int thread, const Scratch& scratch) const {
    if (thread == 0) scalars->gradient_squares = scratch.sum[0];
  }
};

}  // namespace chexbench::engine::cuda::kernels
