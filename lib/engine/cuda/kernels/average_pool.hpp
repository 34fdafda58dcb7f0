// Average pools over square windows, over whole images, and over windows that together cover the image.
#pragma once

#include "engine/cuda/kernels/pool.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename T, int V>
CHEXBENCH_HOST_DEVICE Pack<T, V> scaled(const float (&sum)[V], float factor) {
  Pack<T, V> pack;
  for (int i = 0; i < V; ++i) pack.at[i] = Element<T>::narrow(sum[i] * factor);
  return pack;
}

template <int V, typename T>
CHEXBENCH_HOST_DEVICE void add_row(const Rows<const T>& rows, int row, int channel, float (&sum)[V]) {
  const Pack<T, V> values = load<V>(rows.at(row, channel));
  for (int i = 0; i < V; ++i) sum[i] += widened(values, i);
}

// Forward over square windows. Rows are output pixels; K is the side of the window. Padding counts as 0 and is part of
// the divisor K * K.
template <typename T, int V, int K, typename Read = StoredValues<T, V>>
struct AveragePool {
  typedef Read Values;
  Rows<const T> x;
  Rows<T> y;
  PoolShape shape;
  Values values{};
  typedef WindowWorker<AveragePool> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int row, int channel, const typename Values::OfChannels& value_of) const {
    const Pixel out(row, shape.out_height, shape.out_width);
    const int top = out.y * shape.stride - shape.padding, left = out.x * shape.stride - shape.padding;
    float sum[V] = {};
    for (int h = 0; h < K; ++h) {
      const WindowLine<T, V, K> line(x, shape, out.image, top + h, left, channel);
      for (int w = 0; w < K; ++w) {
        for (int i = 0; i < V; ++i) sum[i] += line.counts[w] ? value_of(line.at[w], i) : 0.0f;
      }
    }
    store(y.at(row, channel), scaled<T>(sum, 1.0f / static_cast<float>(K * K)));
  }
};

// Backward over square windows. Rows are input pixels; each gathers from the windows that contain it, and gets 0 if
// there are none.
template <typename T, int V>
struct AveragePoolBackward {
  Rows<const T> dy;
  Rows<T> dx;
  PoolShape shape;
  typedef PoolWorker<AveragePoolBackward> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int row, int channel) const {
    float sum[V] = {};
    for_windows_around(row, shape, [&](int out, int) { add_row(dy, out, channel, sum); });
    store(dx.at(row, channel), scaled<T>(sum, 1.0f / static_cast<float>(shape.kernel * shape.kernel)));
  }
};

// Forward over whole images. Rows are images: mean[image] is the mean over the image's pixels.
template <typename T, int V>
struct GlobalAverage {
  Rows<const T> x;
  Rows<T> mean;
  int pixels = 0;
  typedef PoolWorker<GlobalAverage> Worker;

  CHEXBENCH_HOST_DEVICE void pool(int image, int channel) const {
    float sum[V] = {};
    for (int pixel = 0; pixel < pixels; ++pixel) add_row(x, image * pixels + pixel, channel, sum);
    store(mean.at(image, channel), scaled<T>(sum, 1.0f / static_cast<float>(pixels)));
  }
};

// Backward over whole images. Rows are the pixels of all images: dx = dmean / pixels.
template <typename T, int V>
struct GlobalAverageBackward {
  Rows<const T> dmean;
  Rows<T> dx;
  int pixels = 0;

  struct Worker {
    static constexpr int kUnroll = 4;
    typedef Pack<T, V> Loaded;
    const GlobalAverageBackward& op;
    const int channel;

    CHEXBENCH_HOST_DEVICE Worker(const GlobalAverageBackward& average, int first) : op(average), channel(first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      const unsigned image = static_cast<unsigned>(row) / static_cast<unsigned>(op.pixels);
      return kernels::load<V>(op.dmean.at(static_cast<int>(image), channel));
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& gradient) const {
      float values[V];
      for (int i = 0; i < V; ++i) values[i] = widened(gradient, i);
      store(op.dx.at(row, channel), scaled<T>(values, 1.0f / static_cast<float>(op.pixels)));
    }
  };
};

// Adaptive pools, as PyTorch's AdaptiveAvgPool2d: output o of n along an axis of m positions averages
// [floor(o m / n), ceil((o + 1) m / n)). Windows may overlap and may differ in size.

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
