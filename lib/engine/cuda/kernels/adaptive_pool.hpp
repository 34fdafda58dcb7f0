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

  struct Worker {
    static constexpr int kUnroll = 1;
    typedef NothingLoaded Loaded;
    const AdaptiveAverage& op;
    const int channel;

    CHEXBENCH_HOST_DEVICE Worker(const AdaptiveAverage& pool, int first) : op(pool), channel(first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int) const { return {}; }
    CHEXBENCH_HOST_DEVICE void use(int row, Loaded) const {
      const PoolShape& s = op.shape;
      const Pixel out(row, s.out_height, s.out_width);
      const Span ys = meeting(out.y, s.out_height, s.height), xs = meeting(out.x, s.out_width, s.width);
      float sum[V] = {};
      for (int y = ys.first; y < ys.last; ++y) {
        for (int x = xs.first; x < xs.last; ++x) add_row(op.x, (out.image * s.height + y) * s.width + x, channel, sum);
      }
      store(op.y.at(row, channel), scaled<T>(sum, 1.0f / static_cast<float>(length(ys) * length(xs))));
    }
  };
};

// Backward. Rows are input pixels; each gathers from every window that contains it.
template <typename T, int V>
struct AdaptiveAverageBackward {
  Rows<const T> dy;
  Rows<T> dx;
  PoolShape shape;

  struct Worker {
    static constexpr int kUnroll = 1;
    typedef NothingLoaded Loaded;
    const AdaptiveAverageBackward& op;
    const int channel;

    CHEXBENCH_HOST_DEVICE Worker(const AdaptiveAverageBackward& pool, int first) : op(pool), channel(first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int) const { return {}; }
    CHEXBENCH_HOST_DEVICE void use(int row, Loaded) const {
      const PoolShape& s = op.shape;
      const Pixel in(row, s.height, s.width);
      const Span ys = meeting(in.y, s.height, s.out_height), xs = meeting(in.x, s.width, s.out_width);
      float sum[V] = {};
      for (int y = ys.first; y < ys.last; ++y) {
        const int lines = length(meeting(y, s.out_height, s.height));
        for (int x = xs.first; x < xs.last; ++x) {
          const float share = 1.0f / static_cast<float>(lines * length(meeting(x, s.out_width, s.width)));
          const Pack<T, V> values =
              kernels::load<V>(op.dy.at((in.image * s.out_height + y) * s.out_width + x, channel));
          for (int i = 0; i < V; ++i) sum[i] += widened(values, i) * share;
        }
      }
      store(op.dx.at(row, channel), scaled<T>(sum, 1.0f));
    }
  };
};

}  // namespace chexbench::engine::cuda::kernels
