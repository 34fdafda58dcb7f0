// The optimizer's kernels, and the tables of all kernels, for the instruction set that the including file is compiled
// for; see kernels.hpp for their contracts. Only kernels_*.cpp may include this header.
#pragma once

#include "engine/onednn/kernels.hpp"
#include "engine/onednn/norm_kernels.hpp"
#include "engine/onednn/pool_kernels.hpp"

namespace chexbench::engine::onednn {
namespace {

void adam(const Regularization& regularization, const AdamFactors& factors, const float* __restrict gradient,
          float* __restrict first, float* __restrict second, float* __restrict weights, std::size_t count) {
  const Regularization r = regularization;
  const AdamFactors f = factors;
  for (std::size_t i = 0; i < count; ++i) {
    const float g = r.scale * gradient[i] + r.l2 * weights[i];
    first[i] = f.beta1 * first[i] + (1.0f - f.beta1) * g;
    second[i] = f.beta2 * second[i] + (1.0f - f.beta2) * g * g;
    weights[i] = r.keep * weights[i] - f.rate * first[i] / (__builtin_sqrtf(second[i]) * f.root + f.epsilon);
  }
}

void sgd(const Regularization& regularization, const SgdFactors& factors, const float* __restrict gradient,
         float* __restrict velocity, float* __restrict weights, std::size_t count) {
  const Regularization r = regularization;
  const SgdFactors f = factors;
  for (std::size_t i = 0; i < count; ++i) {
    velocity[i] = f.momentum * velocity[i] + (r.scale * gradient[i] + r.l2 * weights[i]);
    weights[i] = r.keep * weights[i] - f.rate * velocity[i];
  }
}

void average(float share, const float* __restrict weights, float* __restrict average, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) average[i] += share * (weights[i] - average[i]);
}

template <typename T, int B>
constexpr Kernels table(FloatType type) {
  return {.block = B,
          .type = type,
          .statistics = statistics<T, B>,
          .copy_statistics = copy_statistics<T, B>,
          .normalize = normalize<T, B>,
          .gradient_sums = gradient_sums<T, B>,
          .gradient_apply = gradient_apply<T, B>,
          .gradient_accumulate = gradient_accumulate<T, B>,
          .gradient_finish = gradient_finish<T, B>,
          .add = add<T, B>,
          .max_pool = max_pool<T, B>,
          .max_pool_backward = max_pool_backward<T, B>,
          .average_pool = average_pool<T, B>,
          .average_pool_backward = average_pool_backward<T, B>,
          .global_average = global_average<T, B>,
          .global_average_backward = global_average_backward<T, B>};
}

constexpr KernelTables all_tables() {
  return {{{table<float, 8>(FloatType::f32), table<float, 16>(FloatType::f32)},
           {table<BFloat16, 8>(FloatType::bf16), table<BFloat16, 16>(FloatType::bf16)}},
          {.adam = adam, .sgd = sgd, .average = average}};
}

}  // namespace
}  // namespace chexbench::engine::onednn
