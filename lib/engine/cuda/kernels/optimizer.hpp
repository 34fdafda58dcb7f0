// Updates all weights of an array in one launch, with the formulas of torch.optim and of the CPU engine. Arrays are
// flat and aligned to 16 bytes.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/cuda/kernels/step_scalars.hpp"

namespace chexbench::engine::cuda::kernels {

// Adam (Kingma and Ba, ICLR 2015). `rate` and `root` include the bias corrections.
struct AdamFactors {
  float beta1, beta2, rate, root, epsilon;
};

CHEXBENCH_HOST_DEVICE inline void adam(const AdamFactors& f, float g, float& first, float& second, float& weight) {
  first = f.beta1 * first + (1.0f - f.beta1) * g;
  second = f.beta2 * second + (1.0f - f.beta2) * g * g;
  weight -= f.rate * first / (sqrtf(second) * f.root + f.epsilon);
}

CHEXBENCH_HOST_DEVICE inline void sgd(float rate, float momentum, float g, float& velocity, float& weight) {
  velocity = momentum * velocity + g;
  weight -= rate * velocity;
}

// Weights per call: 16 bytes of each f32 array.
inline constexpr int kWeightsAtOnce = 4;

template <typename C, int V>
CHEXBENCH_HOST_DEVICE Pack<C, V> narrowed(const Pack<float, V>& wide) {
  Pack<C, V> narrow;
  for (int k = 0; k < V; ++k) narrow.at[k] = Element<C>::narrow(wide.at[k]);
  return narrow;
}

// G is the type of the gradients, C the type of the copy of the weights that forward and backward read.
template <typename G, typename C>
struct Update {
  const StepScalars* scalars = nullptr;
  const G* gradient = nullptr;
  float* first = nullptr;                   // Adam: mean of gradients; SGD: velocity.
  float* second = nullptr;                  // Adam: mean of squared gradients.
  float* weight = nullptr;                  // f32 master weights.
  C* copy = nullptr;                        // Null if forward and backward read the master weights.
  float beta1 = 0, beta2 = 0, epsilon = 0;  // Adam.
  float momentum = 0;                       // SGD.
  float l2 = 0;                             // Weight decay that is added to the gradient.
  float decay = 0;                          // Weight decay of the weights themselves.
  bool is_adam = true;
  std::int64_t count = 0;

  CHEXBENCH_HOST_DEVICE static std::int64_t calls(std::int64_t count) {
    return (count + kWeightsAtOnce - 1) / kWeightsAtOnce;
  }

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t call) const {
    if (scalars->skip != 0) return;
    const std::int64_t i = call * kWeightsAtOnce;
    if (i + kWeightsAtOnce <= count) {
      update<kWeightsAtOnce>(i);
    } else {
      for (std::int64_t rest = i; rest < count; ++rest) update<1>(rest);
    }
  }

 private:
  template <int V>
  CHEXBENCH_HOST_DEVICE void update(std::int64_t i) const {
    const Pack<G, V> gradients = load<V>(gradient + i);
    Pack<float, V> weights = load<V>(weight + i), firsts = load<V>(first + i), seconds{};
    if (is_adam) seconds = load<V>(second + i);
    const AdamFactors factors{beta1, beta2, scalars->adam_rate, scalars->adam_root, epsilon};
    const float keep = 1.0f - scalars->learning_rate * decay;
    for (int k = 0; k < V; ++k) {
      const float g = widened(gradients, k) * scalars->update_factor + l2 * weights.at[k];
      weights.at[k] *= keep;
      if (is_adam) {
        adam(factors, g, firsts.at[k], seconds.at[k], weights.at[k]);
      } else {
        sgd(scalars->learning_rate, momentum, g, firsts.at[k], weights.at[k]);
      }
    }
    store(weight + i, weights);
    store(first + i, firsts);
    if (is_adam) store(second + i, seconds);
    if (copy != nullptr) store(copy + i, narrowed<C>(weights));
  }
};

// Moves the average of the weights towards them. Called once per element.
struct MovingAverage {
  const StepScalars* scalars = nullptr;
  const float* weight = nullptr;
  float* average = nullptr;
  float share = 0;  // Of their difference.

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    if (scalars->skip != 0) return;
    average[i] += (scalars->step == 1 ? 1.0f : share) * (weight[i] - average[i]);
  }
};

// Called once per element.
struct SwapAverage {
  float* weight = nullptr;
  float* average = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const float kept = weight[i];
    weight[i] = average[i];
    average[i] = kept;
  }
};

// Writes copies of weights outside an update, e.g. after loading them. Called once per element.
template <typename C>
struct CopyWeights {
  const float* weight = nullptr;
  C* copy = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const { copy[i] = Element<C>::narrow(weight[i]); }
};

// Updates `count` weights unless scalars->skip is set. All arrays must be aligned to 16 bytes. `copy` is the copy of
// the weights that forward and backward read. It may be null; its type is that of the gradients, or any type if the
// gradients are f32.
// @throws DeviceError, also if gradients are of a half type and the copy is not of the same type
struct UpdateCall {
  FloatType gradient_type = FloatType::f32, copy_type = FloatType::f32;
  std::int64_t count = 0;
  const void* gradient = nullptr;
  float* weight = nullptr;
  void* copy = nullptr;
  float* first = nullptr;   // Adam's mean of gradients, or SGD's velocity.
  float* second = nullptr;  // Adam's mean of squared gradients.
  const StepScalars* scalars = nullptr;
  float* average = nullptr;  // Moving average of the weights; null: none.
  float l2 = 0;              // Weight decay that is added to the gradient.
  float decay = 0;           // Weight decay of the weights themselves.
};
void launch_adam(const UpdateCall& call, const StepRules& rules, float epsilon, Stream stream);
void launch_sgd(const UpdateCall& call, float momentum, Stream stream);
// Moves the average towards the weights by 1 - `decay` of their difference (all of it at the first update), unless
// scalars->skip is set. To be queued after the update.
void launch_moving_average(const UpdateCall& call, float decay, Stream stream);
// Exchanges the weights with their average.
void launch_swap_average(const UpdateCall& call, Stream stream);
// Writes the weights to the copy, which must not be null.
void launch_copy_weights(const UpdateCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
