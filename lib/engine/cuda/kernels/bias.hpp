// Bias and activation of layers that no batch norm follows: y = clamp(x + bias), and its backward pass.
#pragma once

#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename T, int V>
struct Bias {
  Rows<const T> x;
  Rows<T> y;
  const float* bias = nullptr;
  Clamp clamp;

  struct Worker {
    static constexpr int kUnroll = 4;
    typedef Pack<T, V> Loaded;
    const Bias& op;
    const int channel;
    const Channels<V> bias;

    CHEXBENCH_HOST_DEVICE Worker(const Bias& of, int first) : op(of), channel(first), bias(of.bias, first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return kernels::load<V>(op.x.at(row, channel)); }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& values) const {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) result.at[i] = Element<T>::narrow(clamped(widened(values, i) + bias.at[i], op.clamp));
      store(op.y.at(row, channel), result);
    }
  };
};

// Writes dx, the part of dy that passes the activation, and computes the first stage of its sum over the rows. Without
// an activation (kOutput is false) the output y is not read.
template <typename T, int V, bool kOutput>
struct BiasBackward {
  static constexpr int kWidth = V;
  Rows<const T> y;
  Rows<const T> dy;
  Rows<T> dx;
  Clamp clamp;

  struct Worker {
    static constexpr int kUnroll = 4;
    struct Loaded {
      Pack<T, V> y, dy;
    };
    const BiasBackward& op;
    const int channel;
    Totals<V> totals{};

    CHEXBENCH_HOST_DEVICE Worker(const BiasBackward& of, const Lane& lane) : op(of), channel(lane.channel) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      Loaded loaded;
      loaded.dy = kernels::load<V>(op.dy.at(row, channel));
      if constexpr (kOutput) loaded.y = kernels::load<V>(op.y.at(row, channel));
      return loaded;
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) {
        float gradient = widened(loaded.dy, i);
        if constexpr (kOutput) gradient = passed(gradient, widened(loaded.y, i), op.clamp);
        totals.at[i].first += gradient;
        result.at[i] = Element<T>::narrow(gradient);
      }
      store(op.dx.at(row, channel), result);
    }
    CHEXBENCH_HOST_DEVICE Totals<V> result(int) const { return totals; }
  };

  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float, Pair b, float) { return added(a, b); }
};

struct BiasFinish {
  float* bias_gradient = nullptr;

  CHEXBENCH_HOST_DEVICE static DoublePair term(Pair partial, int) { return {static_cast<double>(partial.first), 0}; }
  CHEXBENCH_HOST_DEVICE void write(int channel, DoublePair sum) const {
    bias_gradient[channel] = static_cast<float>(sum.first);
  }
};

}  // namespace chexbench::engine::cuda::kernels
