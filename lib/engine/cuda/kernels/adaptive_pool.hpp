// Means over windows that together cover the image, as in PyTorch's AdaptiveAvgPool2d: output o of n along an axis of m
// positions averages [floor(o m / n), ceil((o + 1) m / n)). Windows may overlap and may differ in size.
#pragma once

#include "engine/cuda/kernels/average_pool.hpp"

namespace chexbench::engine::cuda::kernels {

// Returns which of `of` positions overlap place `i` of `places`, on axes of equal length. It serves both directions,
// because an input position is in exactly those outputs' windows that overlap it.
CHEXBENCH_HOST_DEVICE inline Span meeting(int i, int places, int of) {
  return {i * of / places, ((i + 1) * of + places - 1) / places};
}

CHEXBENCH_HOST_DEVICE inline int length(Span span) { return span.last - span.first; }

// Forward. Rows are output pixels.
template <typename T, int V>
struct AdaptiveAverage {
  Rows<const T> x;
  Rows<T> y;
  PoolShape shape;
  typedef PoolWorker<AdaptiveAverage> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int row, int channel) const {
    const Pixel out(row, shape.out_height, shape.out_width);
    const Span ys = meeting(out.y, shape.out_height, shape.height), xs = meeting(out.x, shape.out_width, shape.width);
    float sum[V] = {};
    for (int h = ys.first; h < ys.last; ++h) {
      for (int w = xs.first; w < xs.last; ++w) {
        add_row(x, (out.image * shape.height + h) * shape.width + w, channel, sum);
      }
    }
    store(y.at(row, channel), scaled<T>(sum, 1.0f / static_cast<float>(length(ys) * length(xs))));
  }
};

// Backward. Rows are input pixels; each gathers from every window that contains it.
template <typename T, int V>
struct AdaptiveAverageBackward {
  Rows<const T> dy;
  Rows<T> dx;
  PoolShape shape;
  typedef PoolWorker<AdaptiveAverageBackward> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int row, int channel) const {
    const Pixel in(row, shape.height, shape.width);
    const Span ys = meeting(in.y, shape.height, shape.out_height), xs = meeting(in.x, shape.width, shape.out_width);
    float sum[V] = {};
    for (int y = ys.first; y < ys.last; ++y) {
      const int lines = length(meeting(y, shape.out_height, shape.height));
      for (int x = xs.first; x < xs.last; ++x) {
        const float share = 1.0f / static_cast<float>(lines * length(meeting(x, shape.out_width, shape.width)));
        const Pack<T, V> values = load<V>(dy.at((in.image * shape.out_height + y) * shape.out_width + x, channel));
        for (int i = 0; i < V; ++i) sum[i] += widened(values, i) * share;
      }
    }
    store(dx.at(row, channel), scaled<T>(sum, 1.0f));
  }
};

}  // namespace chexbench::engine::cuda::kernels
