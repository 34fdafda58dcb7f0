// Pools: the geometry of square windows, the same as in the CPU engine, and the launchers; the formulas are in
// max_pool.hpp and average_pool.hpp. Positions outside the image are ignored (max) or count as 0 (average).
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"

namespace chexbench::engine::cuda::kernels {

// Sizes of one image before and after the pool, in pixels.
struct PoolShape {
  int height = 0, width = 0;
  int out_height = 0, out_width = 0;
  int kernel = 0, stride = 0, padding = 0;

  CHEXBENCH_HOST_DEVICE int pixels() const { return height * width; }
  CHEXBENCH_HOST_DEVICE int out_pixels() const { return out_height * out_width; }
};

// A row index of [image][y][x], split into its coordinates.
struct Pixel {
  int image, y, x;

  CHEXBENCH_HOST_DEVICE Pixel(int row, int height, int width) {
    const unsigned line = static_cast<unsigned>(row) / static_cast<unsigned>(width);  // Unsigned division is faster.
    x = row - static_cast<int>(line) * width;
    image = static_cast<int>(line / static_cast<unsigned>(height));
    y = static_cast<int>(line) - image * height;
  }
};

// Positions [first, last) along one axis.
struct Span {
  int first, last;
};

// Returns the outputs whose windows contain input position `in`.
CHEXBENCH_HOST_DEVICE inline Span covering(int in, const PoolShape& shape, int outputs) {
  const int low = in + shape.padding - shape.kernel + 1;
  const int high = (in + shape.padding) / shape.stride + 1;
  return {low <= 0 ? 0 : (low + shape.stride - 1) / shape.stride, high > outputs ? outputs : high};
}

// Returns the place of an input position in the window of output `out`.
CHEXBENCH_HOST_DEVICE inline int place(int in, int out, const PoolShape& shape) {
  return in - out * shape.stride + shape.padding;
}

CHEXBENCH_HOST_DEVICE inline bool inside(int position, int size) { return position >= 0 && position < size; }

CHEXBENCH_HOST_DEVICE inline int nearest_inside(int position, int size) {
  return position < 0 ? 0 : position < size ? position : size - 1;
}

// K neighbours in one line of a window. All of them are loaded, so that no branch separates the loads; a position
// outside the image is replaced by the nearest one inside and does not count.
template <typename T, int V, int K>
struct WindowLine {
  Pack<T, V> at[K];
  bool counts[K];

  CHEXBENCH_HOST_DEVICE WindowLine(const Rows<const T>& x, const PoolShape& shape, int image, int h, int left,
                                   int channel) {
    const int line = (image * shape.height + nearest_inside(h, shape.height)) * shape.width;
    for (int k = 0; k < K; ++k) {
      at[k] = load<V>(x.at(line + nearest_inside(left + k, shape.width), channel));
      counts[k] = inside(h, shape.height) && inside(left + k, shape.width);
    }
  }
};

// Calls use(out, place) for each output whose window contains the input pixel of that row: `out` is the output's row,
// and `place` is where the pixel is in the window, line by line.
template <typename Use>
CHEXBENCH_HOST_DEVICE void for_windows_around(int row, const PoolShape& shape, const Use& use) {
  const Pixel in(row, shape.height, shape.width);
  const Span ys = covering(in.y, shape, shape.out_height), xs = covering(in.x, shape, shape.out_width);
  for (int y = ys.first; y < ys.last; ++y) {
    for (int x = xs.first; x < xs.last; ++x) {
      use((in.image * shape.out_height + y) * shape.out_width + x,
          place(in.y, y, shape) * shape.kernel + place(in.x, x, shape));
    }
  }
}

// How a pool uses the packs that it loads: the plain values. For the alternative see norm_pool.hpp.
template <typename T, int V>
struct StoredValues {
  struct OfChannels {
    CHEXBENCH_HOST_DEVICE OfChannels(const StoredValues&, int) {}
    CHEXBENCH_HOST_DEVICE float operator()(const Pack<T, V>& pack, int i) const { return widened(pack, i); }
  };
};

// The worker of pools over windows: op.values' data for a thread's channels stays in registers.
template <typename Op>
struct WindowWorker {
  static constexpr int kUnroll = 1;
  struct Loaded {};
  const Op& op;
  const int channel;
  const typename Op::Values::OfChannels values;

  CHEXBENCH_HOST_DEVICE WindowWorker(const Op& of, int first) : op(of), channel(first), values(of.values, first) {}
  CHEXBENCH_HOST_DEVICE Loaded load(int) const { return {}; }
  CHEXBENCH_HOST_DEVICE void use(int row, Loaded) const { op.pool(row, channel, values); }
};

// The worker of other pools. They gather from many rows, so for_rows() has nothing to load for them, and all the work
// on a row is in op.pool(row, channel).
template <typename Op>
struct PoolWorker {
  static constexpr int kUnroll = 1;
  struct Loaded {};
  const Op& op;
  const int channel;

  CHEXBENCH_HOST_DEVICE PoolWorker(const Op& of, int first) : op(of), channel(first) {}
  CHEXBENCH_HOST_DEVICE Loaded load(int) const { return {}; }
  CHEXBENCH_HOST_DEVICE void use(int row, Loaded) const { op.pool(row, channel); }
};

// Accepts windows of 2x2 and 3x3 with padding of at most half the window (PyTorch's limit, too).
// @throws DeviceError for any other shape
void check_pool(const PoolShape& shape);

// Returns whether a norm can compute a pool of this shape as well (norm_pool.hpp): a max pool with windows of 3x3,
// stride 2 and a padding of at most 1, or an average pool with windows of 2x2, stride 2 and no padding.
inline bool norm_takes_max_pool(const PoolShape& shape) {
  return shape.kernel == 3 && shape.stride == 2 && (shape.padding == 0 || shape.padding == 1);
}
inline bool norm_takes_average_pool(const PoolShape& shape) {
  return shape.kernel == 2 && shape.stride == 2 && shape.padding == 0;
}

// Checks that, for a max pool if `max` and else for an average pool.
// @throws DeviceError if a norm cannot
void check_norm_pool(const PoolShape& shape, bool max);

// In forward `x` and `y` are the pool's input and output, in backward the gradients of these. No two tensors may
// overlap.
struct PoolCall {
  FloatType type = FloatType::f32;
  int images = 0, channels = 0;
  PoolShape shape;
  Matrix x, y;
};

// The four functions below also throw DeviceError if check_pool() rejects the shape. `winner` is u8[output
// pixels][channels], packed: the place in each window that won. Forward writes it and backward reads it.
void launch_max_pool(const PoolCall& call, std::uint8_t* winner, Stream stream);
void launch_max_pool_backward(const PoolCall& call, const std::uint8_t* winner, Stream stream);
void launch_average_pool(const PoolCall& call, Stream stream);
void launch_average_pool_backward(const PoolCall& call, Stream stream);

// Averages whole images of shape.height x shape.width: y has one row for each image.
void launch_global_average(const PoolCall& call, Stream stream);
void launch_global_average_backward(const PoolCall& call, Stream stream);

// Averages over the windows that follow from the input and output sizes; kernel, stride and padding are ignored.
void launch_adaptive_average(const PoolCall& call, Stream stream);
void launch_adaptive_average_backward(const PoolCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
