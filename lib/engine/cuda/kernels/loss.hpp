// Binary cross-entropy on logits, averaged over batch x outputs, and its gradient, with the CPU engine's formulas.
#pragma once

#include <cmath>

#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

// Returns max(z, 0) - z t + log(1 + exp(-|z|)), a form that stays exact when exp(z) would overflow, or 0 if the target
// is kIgnoredLabel, the only negative target. `extra` is (weight - 1) t, for an output whose positives count `weight`
// times.
CHEXBENCH_HOST_DEVICE inline float cross_entropy(float logit, float target, float extra = 0) {
  if (target < 0) return 0;
  const float tail = log1pf(expf(-fabsf(logit)));
  return (logit > 0 ? logit : 0.0f) - logit * target + tail + extra * ((logit < 0 ? -logit : 0.0f) + tail);
}

// Returns d cross_entropy / d logit = sigmoid(z) - t, or 0 as above.
CHEXBENCH_HOST_DEVICE inline float cross_entropy_gradient(float logit, float target, float extra = 0) {
  if (target < 0) return 0;
  const float probability = 1.0f / (1.0f + expf(-logit));
  return probability - target + extra * (probability - 1.0f);
}

// A reduction (reduction.hpp) of one block, since a batch has only a few thousand logits. Rows of logits and gradients
// are padded to `ld`; the padding gets gradient 0 and does not count in the loss. The last layer's bias is added here,
// in f32.
template <typename T>
struct Loss {
  static constexpr int kThreads = 1024;
  struct Scratch {
    double sum[kThreads];
  };

  const T* logits = nullptr;
  const float* bias = nullptr;     // [outputs]
  const float* targets = nullptr;  // [batch][outputs]
  float* biased = nullptr;         // [batch][outputs], logits + bias.
  T* gradient = nullptr;           // [batch][ld], multiplied by *scale.
  const float* scale = nullptr;
  float* loss = nullptr;
  int batch = 0, outputs = 0, ld = 0;
  float smoothing = 0;             // As in engine/loss_rule.hpp.
  const float* weights = nullptr;  // [outputs]; null: all are 1.

  CHEXBENCH_HOST_DEVICE int lanes() const { return kThreads; }

  CHEXBENCH_HOST_DEVICE void gather(int, int thread, Scratch& scratch) const {
    const float factor = *scale / (static_cast<float>(batch) * static_cast<float>(outputs));
    double sum = 0;
    for (int i = thread; i < batch * ld; i += kThreads) {
      const int image = i / ld, output = i % ld;
      float slope = 0;
      if (output < outputs) {
        const float logit = Element<T>::widen(logits[i]) + bias[output];
        const float stated = targets[image * outputs + output];  // Negative: ignored, so not part of a mixture.
        const float target = stated < 0 ? stated : stated * (1.0f - smoothing) + smoothing / 2;
        const float extra = weights == nullptr ? 0.0f : (weights[output] - 1.0f) * target;
        biased[image * outputs + output] = logit;
        sum += static_cast<double>(cross_entropy(logit, target, extra));
        slope = cross_entropy_gradient(logit, target, extra) * factor;
      }
      gradient[i] = Element<T>::narrow(slope);
    }
    scratch.sum[thread] = sum;
  }
  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const {
    const int other = thread + folded(active);
    if (other < active) scratch.sum[thread] += scratch.sum[other];
  }
  CHEXBENCH_HOST_DEVICE void publish(int, int thread, const Scratch& scratch) const {
    if (thread == 0) *loss = static_cast<float>(scratch.sum[0] / (static_cast<double>(batch) * outputs));
  }
};

// Computes the gradient of the last layer's bias. Called once for each output.
template <typename T>
struct BiasGradient {
  const T* gradient = nullptr;  // Of the logits, [batch][ld].
  float* of_bias = nullptr;
  int batch = 0, ld = 0;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t output) const {
    float sum = 0;
    for (int image = 0; image < batch; ++image) sum += Element<T>::widen(gradient[image * ld + output]);
    of_bias[output] = sum;
  }
};

}  // namespace chexbench::engine::cuda::kernels
