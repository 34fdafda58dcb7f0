// Forward pass of batch norm: y = clamp(weight (x - mean) / deviation + bias (+ residual)). Source: Ioffe and Szegedy,
// "Batch normalization", ICML 2015.
#pragma once

#include <cmath>

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/clamp.hpp"
#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

// Arrays in device memory, indexed by channel of the slice. Frozen norms pass their running statistics. Kernels that
// move tensors in vectors need these arrays aligned to 16 bytes, too (dispatch.hpp).
struct NormParameters {
  const float* mean = nullptr;
  const float* variance = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float epsilon = 0;
};

CHEXBENCH_HOST_DEVICE inline float inverse_deviation(float variance, float epsilon) {
  return rsqrtf(variance + epsilon);
}

// Per-channel values of one thread. The constructor issues all loads before any value is used; a loop that also
// computed would prevent that. They are loaded 16 bytes at a time: single values of eight channels to a thread would
// touch each line of the array eight times, while all threads of the device wait to begin.
template <int V>
struct Channels {
  float at[V];

  CHEXBENCH_HOST_DEVICE Channels(const float* array, int channel) {
    constexpr int kMoved = V < kVectorWidth<float> ? V : kVectorWidth<float>;
    for (int i = 0; i < V; i += kMoved) {
      const Pack<float, kMoved> values = load<kMoved>(array + channel + i);
      for (int j = 0; j < kMoved; ++j) at[i + j] = values.at[j];
    }
  }
};

// The norm as scale * x + shift. Each thread computes scale and shift itself, which is cheaper than a kernel that
// writes them for all. Backward must get the same bits to decide which values passed the activation; fmaf is explicit
// so that the choice to fuse is not the compiler's.
template <int V>
struct Affine {
  float scale[V], shift[V];

  CHEXBENCH_HOST_DEVICE Affine(const NormParameters& norm, int channel) {
    const Channels<V> variance(norm.variance, channel), weight(norm.weight, channel), mean(norm.mean, channel),
        bias(norm.bias, channel);
    for (int i = 0; i < V; ++i) {
      scale[i] = weight.at[i] * inverse_deviation(variance.at[i], norm.epsilon);
      shift[i] = fmaf(-mean.at[i], scale[i], bias.at[i]);
    }
  }
  CHEXBENCH_HOST_DEVICE float operator()(int i, float x) const { return fmaf(scale[i], x, shift[i]); }
};

template <typename T, int V, bool kResidual>
struct Normalize {
  Rows<const T> x;
  Rows<const T> residual;
  Rows<T> y;
  NormParameters norm;
  Clamp clamp;

  struct Worker {
    static constexpr int kUnroll = kResidual ? 2 : 4;
    struct Loaded {
      Pack<T, V> x, residual;
    };
    const Normalize& op;
    const int channel;
    const Affine<V> affine;

    CHEXBENCH_HOST_DEVICE Worker(const Normalize& normalize, int first)
        : op(normalize), channel(first), affine(normalize.norm, first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      Loaded loaded;
      loaded.x = kernels::load<V>(op.x.at(row, channel));
      if constexpr (kResidual) loaded.residual = kernels::load<V>(op.residual.at(row, channel));
      return loaded;
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) const {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) {
        float value = affine(i, widened(loaded.x, i));
        if constexpr (kResidual) value += widened(loaded.residual, i);
        result.at[i] = Element<T>::narrow(clamped(value, op.clamp));
      }
      store(op.y.at(row, channel), result);
    }
  };
};

}  // namespace chexbench::engine::cuda::kernels
