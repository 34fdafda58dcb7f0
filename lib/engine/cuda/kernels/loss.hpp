// The losses and their gradients, with the CPU engine's formulas: binary cross-entropy on logits, averaged over batch x
// outputs, and softmax cross-entropy of exclusive classes.
#pragma once

#include <cmath>

#include "engine/cuda/kernels/reduction.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

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
  float smoothing = 0;             // As in engine/training_engine.hpp.
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

// Softmax cross-entropy of exclusive classes takes three launches: a block for each image, one block for the batch, and
// a call for each gradient.

// The weights of an image's classes in the loss.
struct ClassRule {
  int outputs = 0;
  float smoothing = 0;
  const float* weights = nullptr;  // [outputs]; null: all are 1.

  CHEXBENCH_HOST_DEVICE float weight(int output) const { return weights == nullptr ? 1.0f : weights[output]; }
  // The weight of an output times its smoothed target.
  CHEXBENCH_HOST_DEVICE float share(int output, float target) const {
    return weight(output) * (target * (1.0f - smoothing) + smoothing / static_cast<float>(outputs));
  }
};

// One image's contribution to the batch.
struct SoftmaxRow {
  float log_sum = 0;  // Logarithm of the sum of the exponentials of its logits.
  float shares = 0;   // Sum of its shares.
  float mass = 0;     // Weight of its class.
  float loss = 0;     // Not yet divided by the sum of masses.
};

// A reduction with a block for each image. The exponentials are summed relative to the largest logit so far, so that
// none overflows, in the one pass that adds the last layer's bias.
template <typename T>
struct SoftmaxRows {
  static constexpr int kThreads = 128;
  struct Scratch {
    float largest[kThreads], sum[kThreads], shares[kThreads], mass[kThreads], product[kThreads];
  };

  const T* logits = nullptr;       // [batch][ld]
  const float* bias = nullptr;     // [outputs]
  const float* targets = nullptr;  // [batch][outputs], exactly one 1 in each row.
  float* biased = nullptr;         // [batch][outputs], logits + bias.
  SoftmaxRow* rows = nullptr;      // [batch]
  int ld = 0;
  ClassRule rule;

  CHEXBENCH_HOST_DEVICE int lanes() const { return kThreads; }

  CHEXBENCH_HOST_DEVICE void gather(int image, int thread, Scratch& scratch) const {
    float largest = -INFINITY, sum = 0, shares = 0, mass = 0, product = 0;
    for (int output = thread; output < rule.outputs; output += kThreads) {
      const int at = image * rule.outputs + output;
      const float logit = Element<T>::widen(logits[image * ld + output]) + bias[output];
      const float target = targets[at], share = rule.share(output, target);
      biased[at] = logit;
      add(largest, sum, logit, 1.0f);
      shares += share;
      mass += rule.weight(output) * target;
      product += share * logit;
    }
    scratch.largest[thread] = largest;
    scratch.sum[thread] = sum;
    scratch.shares[thread] = shares;
    scratch.mass[thread] = mass;
    scratch.product[thread] = product;
  }
  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const {
    const int other = thread + folded(active);
    if (other >= active) return;
    add(scratch.largest[thread], scratch.sum[thread], scratch.largest[other], scratch.sum[other]);
    scratch.shares[thread] += scratch.shares[other];
    scratch.mass[thread] += scratch.mass[other];
    scratch.product[thread] += scratch.product[other];
  }
  CHEXBENCH_HOST_DEVICE void publish(int image, int thread, const Scratch& scratch) const {
    if (thread != 0) return;
    const float log_sum = scratch.largest[0] + logf(scratch.sum[0]), shares = scratch.shares[0];
    rows[image] = {log_sum, shares, scratch.mass[0], shares * log_sum - scratch.product[0]};
  }

 private:
  // Adds `more` times exp(logit) to a sum that is relative to exp(largest). NaN shows in the sum.
  CHEXBENCH_HOST_DEVICE static void add(float& largest, float& sum, float logit, float more) {
    if (more == 0) return;  // A thread without outputs.
    if (logit > largest) {
      sum = sum * expf(largest - logit) + more;
      largest = logit;
    } else {
      sum += more * expf(logit - largest);
    }
  }
};

// A reduction of one block: the loss of the batch.
struct SoftmaxTotal {
  static constexpr int kThreads = 256;
  struct Scratch {
    double loss[kThreads], mass[kThreads];
  };

  const SoftmaxRow* rows = nullptr;
  int batch = 0;
  float* loss = nullptr;
  float* mass = nullptr;

  CHEXBENCH_HOST_DEVICE int lanes() const { return kThreads; }

  CHEXBENCH_HOST_DEVICE void gather(int, int thread, Scratch& scratch) const {
    double sum = 0, masses = 0;
    for (int image = thread; image < batch; image += kThreads) {
      sum += static_cast<double>(rows[image].loss);
      masses += static_cast<double>(rows[image].mass);
    }
    scratch.loss[thread] = sum;
    scratch.mass[thread] = masses;
  }
  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const {
    const int other = thread + folded(active);
    if (other >= active) return;
    scratch.loss[thread] += scratch.loss[other];
    scratch.mass[thread] += scratch.mass[other];
  }
  CHEXBENCH_HOST_DEVICE void publish(int, int thread, const Scratch& scratch) const {
    if (thread != 0) return;
    *loss = static_cast<float>(scratch.loss[0] / scratch.mass[0]);
    *mass = static_cast<float>(scratch.mass[0]);
  }
};

// Writes one gradient a call, [batch][ld]; that of the padding is 0.
template <typename T>
struct SoftmaxGradient {
  const float* biased = nullptr;
  const float* targets = nullptr;
  const SoftmaxRow* rows = nullptr;
  const float* mass = nullptr;
  const float* scale = nullptr;
  T* gradient = nullptr;
  int ld = 0;
  ClassRule rule;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const auto image = static_cast<int>(i / ld), output = static_cast<int>(i % ld);
    float slope = 0;
    if (output < rule.outputs) {
      const int at = image * rule.outputs + output;
      const float probability = expf(biased[at] - rows[image].log_sum);
      slope = (probability * rows[image].shares - rule.share(output, targets[at])) * (*scale / *mass);
    }
    gradient[i] = Element<T>::narrow(slope);
  }
};

// Computes the *loss (f32; binary cross-entropy, or softmax cross-entropy if there are `rows`), its gradient times
// scalars->loss_scale, and the gradient of the last layer's bias. logits (without the bias) and gradient are
// [batch][ld]; targets and biased (the logits with the bias, f32) are [batch][outputs].
struct LossCall {
  FloatType type = FloatType::f32;
  int batch = 0, outputs = 0, ld = 0;
  const void* logits = nullptr;
  const float* bias = nullptr;  // f32[outputs]
  void* gradient = nullptr;
  float* bias_gradient = nullptr;  // f32[outputs]
  const float* targets = nullptr;
  const StepScalars* scalars = nullptr;
  float* loss = nullptr;
  float* biased = nullptr;
  float smoothing = 0;             // As in engine/training_engine.hpp.
  const float* weights = nullptr;  // f32[outputs]; null: all are 1.
  float* rows = nullptr;           // For exclusive classes: softmax_floats(batch) floats, aligned to 16 bytes.
};
// Returns how many floats the sums of a batch of exclusive classes take: four for each image, and one for the batch.
constexpr std::int64_t softmax_floats(int batch) { return 4 * std::int64_t{batch} + 1; }
void launch_loss(const LossCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
