// The optimizer's kernels; see kernels.hpp for their contracts. Only kernels_*.cpp may include this header.
#pragma once

#include "engine/onednn/kernels.hpp"

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

}  // namespace
}  // namespace chexbench::engine::onednn
