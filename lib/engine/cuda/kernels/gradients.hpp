// What happens to a step's gradients before the update: the mean over its batches, the check for overflow, and the norm
// by which they are clipped.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "engine/cuda/kernels/reduction.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda::kernels {

// Sums gradients over the batches of a step, in f32 for gradients of any type. Called once per element.
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

// Replaces the gradient by the mean over the batches in the sum and its own. Called once per element.
template <typename G>
struct TakeMean {
  G* gradient = nullptr;
  const float* sum = nullptr;
  float share = 1;  // 1 / number of batches.

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    gradient[i] = Element<G>::narrow((sum[i] + Element<G>::widen(gradient[i])) * share);
  }
};

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

// The norm of all gradients, by which they are clipped: sums of squares of each block, then of all blocks. The order of
// all sums is fixed, so equal gradients give equal bits.

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

// The gradients of one parameter range, which the backward pass of each batch of a step writes to the same place.
struct AccumulateCall {
  FloatType type = FloatType::f32;
  std::int64_t count = 0;
  void* gradient = nullptr;
  float* sum = nullptr;
};
// Adds this batch's gradients to the sum, or starts the sum with them if `begins` is true.
void launch_accumulate(const AccumulateCall& call, bool begins, Stream stream);
// Replaces the gradients by the mean over `batches` batches: those in the sum and the current one.
void launch_average(const AccumulateCall& call, int batches, Stream stream);

// Sets scalars->overflow if one of `count` gradients is infinite or NaN. `gradient` must be aligned to 16 bytes.
void launch_overflow_check(FloatType type, const void* gradient, std::int64_t count, StepScalars* scalars,
                           Stream stream);
// Writes sums of squares of `count` gradients to partials[kNormBlocks]. `gradient` must be aligned to 16 bytes.
void launch_gradient_squares(FloatType type, const void* gradient, std::int64_t count, double* partials, Stream stream);
// Adds up `count` partials into scalars->gradient_squares, in an order that depends on nothing else.
void launch_gradient_norm(const double* partials, int count, StepScalars* scalars, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
