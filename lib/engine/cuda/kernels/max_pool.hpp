// Max pool. Forward stores which place of each window won, so that backward reads neither x nor y.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/cuda/kernels/pool.hpp"

namespace chexbench::engine::cuda::kernels {

// Forward. Rows are output pixels. K is the side of the window; it is a template argument so that the compiler can
// issue the loads of a line of the window at once. Loading all nine packs of a window at once slowed the norm with the
// stem's pool on an H200 from 471 to 612 us: it needs threads more than loads in flight.
template <typename T, int V, int K, typename Read = StoredValues<T, V>>
struct MaxPool {
  typedef Read Values;
  Rows<const T> x;
  Rows<T> y;
  Rows<std::uint8_t> winner;
  PoolShape shape;
  Values values{};
  typedef WindowWorker<MaxPool> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int row, int channel, const typename Values::OfChannels& value_of) const {
    const Pixel out(row, shape.out_height, shape.out_width);
    const int top = out.y * shape.stride - shape.padding, left = out.x * shape.stride - shape.padding;
    float best[V];
    int won[V];
    const int first = (top < 0 ? -top : 0) * K + (left < 0 ? -left : 0);
    for (int i = 0; i < V; ++i) {
      best[i] = -INFINITY;
      won[i] = first;
    }
    for (int h = 0; h < K; ++h) {
      const WindowLine<T, V, K> line(x, shape, out.image, top + h, left, channel);
      for (int w = 0; w < K; ++w) {
        for (int i = 0; i < V; ++i) {
          const float value = value_of(line.at[w], i);
          // NaN wins, as in PyTorch. & and | instead of && and || avoid branches.
          const bool wins = line.counts[w] & ((value > best[i]) | (value != value));
          best[i] = wins ? value : best[i];
          won[i] = wins ? h * K + w : won[i];
        }
      }
    }
    Pack<T, V> result;
    Pack<std::uint8_t, V> index;
    for (int i = 0; i < V; ++i) {
      result.at[i] = Element<T>::narrow(best[i]);
      index.at[i] = static_cast<std::uint8_t>(won[i]);
    }
    store(y.at(row, channel), result);
    store(winner.at(row, channel), index);
  }
};

// Backward. Rows are input pixels; each gathers from the outputs whose window it won, so that no two threads write to
// the same place.
template <typename T, int V>
struct MaxPoolBackward {
  Rows<const T> dy;
  Rows<const std::uint8_t> winner;
  Rows<T> dx;
  PoolShape shape;
  typedef PoolWorker<MaxPoolBackward> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int row, int channel) const {
    float sum[V] = {};
    for_windows_around(row, shape, [&](int out, int here) {
      const auto won = load<V>(winner.at(out, channel));
      const auto gradient = load<V>(dy.at(out, channel));
      for (int i = 0; i < V; ++i) sum[i] += won.at[i] == here ? widened(gradient, i) : 0.0f;
    });
    Pack<T, V> result;
    for (int i = 0; i < V; ++i) result.at[i] = Element<T>::narrow(sum[i]);
    store(dx.at(row, channel), result);
  }
};

}  // namespace chexbench::engine::cuda::kernels
