// Softmax cross-entropy of exclusive classes and its gradient, as in engine/loss_rule.hpp, in three launches: a block
// for each image, one block for the batch, and a call for each gradient.
#pragma once

#include <cmath>

#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

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

}  // namespace chexbench::engine::cuda::kernels
