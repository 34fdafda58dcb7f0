// The pooling kernels; see kernels.hpp for their contracts. Only kernels_*.cpp may include this header.
#pragma once

#include "engine/onednn/vector.hpp"

namespace chexbench::engine::onednn {
namespace {

// The pixels of one image in one block of channels.
template <typename T>
struct Pixels {
  T* data;
  std::int64_t stride;
  int height, width;
};

template <typename T>
inline Pixels<T> inputs(const View& x, const PoolShape& shape, int image, int block) {
  return {plane<T>(x, image, block), x.pixel_stride, shape.height, shape.width};
}

template <typename T>
inline Pixels<T> outputs(const View& y, const PoolShape& shape, int image, int block) {
  return {plane<T>(y, image, block), y.pixel_stride, shape.out_height, shape.out_width};
}

// Along one axis, the positions [first, last) of output `out`'s window that are inside the image.
struct Reach {
  int first, last;
  Reach(int out, const PoolShape& shape, int size) {
    const int begin = out * shape.stride - shape.padding;
    first = begin < 0 ? 0 : begin;
    last = begin + shape.kernel > size ? size : begin + shape.kernel;
  }
};

// Along one axis, the outputs [first, last) whose windows contain input position `in`.
struct Covering {
  int first, last;
  Covering(int in, const PoolShape& shape, int outputs) {
    const int low = in + shape.padding - shape.kernel + 1;
    first = low <= 0 ? 0 : (low + shape.stride - 1) / shape.stride;
    const int high = (in + shape.padding) / shape.stride + 1;
    last = high > outputs ? outputs : high;
  }
};

// Along one axis, the index of input position `in` within the window of output `out`.
inline int place(int in, int out, const PoolShape& shape) { return in - out * shape.stride + shape.padding; }

template <typename T, int B>
void max_pool(const View& x, const View& y, const View& winner, const PoolShape& shape, Work work) {
  typedef typename Lanes<B>::Byte Byte;
  for (int image = work.first_image; image < work.last_image; ++image) {
    const T* const in = plane<const T>(x, image, work.block);
    T* const out = plane<T>(y, image, work.block);
    std::uint8_t* const won = plane<std::uint8_t>(winner, image, work.block);
    for (int row = 0; row < shape.out_height; ++row) {
      const Reach rows(row, shape, shape.height);
      for (int column = 0; column < shape.out_width; ++column) {
        const Reach columns(column, shape, shape.width);
        auto best = load<B>(in + (std::int64_t{rows.first} * shape.width + columns.first) * x.pixel_stride);
        typename Lanes<B>::Int index = place(rows.first, row, shape) * shape.kernel +
                                       place(columns.first, column, shape) - typename Lanes<B>::Int{};
        for (int h = rows.first; h < rows.last; ++h) {
          for (int w = columns.first; w < columns.last; ++w) {
            const auto value = load<B>(in + (std::int64_t{h} * shape.width + w) * x.pixel_stride);
            const int here = place(h, row, shape) * shape.kernel + place(w, column, shape);
            const auto wins = (value > best) | (value != value);  // NaN wins, as in PyTorch
            index = wins ? here - typename Lanes<B>::Int{} : index;
            best = wins ? value : best;
          }
        }
        const std::int64_t pixel = std::int64_t{row} * shape.out_width + column;
        store<B>(out + pixel * y.pixel_stride, best);
        *reinterpret_cast<Byte*>(won + pixel * winner.pixel_stride) = __builtin_convertvector(index, Byte);
      }
    }
  }
}

// Gathers: sums, for each input, the gradients of the outputs whose maximum it is. Scattering from outputs would write
// some inputs several times, since windows overlap.
template <typename T, int B>
void max_pool_backward(const View& dy, const View& winner, const View& dx, const PoolShape& shape, Work work) {
  typedef typename Lanes<B>::Int Int;
  for (int image = work.first_image; image < work.last_image; ++image) {
    const T* const gradient = plane<const T>(dy, image, work.block);
    const std::uint8_t* const won = plane<const std::uint8_t>(winner, image, work.block);
    T* const out = plane<T>(dx, image, work.block);
    for (int h = 0; h < shape.height; ++h) {
      const Covering rows(h, shape, shape.out_height);
      for (int w = 0; w < shape.width; ++w) {
        const Covering columns(w, shape, shape.out_width);
        typename Lanes<B>::Float sum{};
        for (int row = rows.first; row < rows.last; ++row) {
          for (int column = columns.first; column < columns.last; ++column) {
            const std::int64_t pixel = std::int64_t{row} * shape.out_width + column;
            const int here = place(h, row, shape) * shape.kernel + place(w, column, shape);
            const Int index = __builtin_convertvector(
                *reinterpret_cast<const typename Lanes<B>::Byte*>(won + pixel * winner.pixel_stride), Int);
            sum += index == here ? load<B>(gradient + pixel * dy.pixel_stride) : typename Lanes<B>::Float{};
          }
        }
        store<B>(out + (std::int64_t{h} * shape.width + w) * dx.pixel_stride, sum);
      }
    }
  }
}

// Writes the sum over each output pixel's window, divided by the size of a whole window. Backward uses it with the
// outputs as `in`: for a pixel, it sums the gradients of the windows around it. It is always inlined, which keeps the
// fields of `in` and `out` in registers.
template <int B, typename Window, typename T>
[[gnu::always_inline]] inline void average_windows(Pixels<const T> in, Pixels<T> out, const PoolShape& shape) {
  const float share = 1.0f / static_cast<float>(shape.kernel * shape.kernel);
  for (int y = 0; y < out.height; ++y) {
    const Window rows(y, shape, in.height);
    for (int x = 0; x < out.width; ++x) {
      const Window columns(x, shape, in.width);
      typename Lanes<B>::Float sum{};
      for (int row = rows.first; row < rows.last; ++row) {
        const T* const line = in.data + std::int64_t{row} * in.width * in.stride;
        for (int column = columns.first; column < columns.last; ++column) sum += load<B>(line + column * in.stride);
      }
      store<B>(out.data, sum * share);
      out.data += out.stride;
    }
  }
}

template <typename T, int B>
void average_pool(const View& x, const View& y, const PoolShape& shape, Work work) {
  for (int image = work.first_image; image < work.last_image; ++image) {
    average_windows<B, Reach, T>(inputs<const T>(x, shape, image, work.block), outputs<T>(y, shape, image, work.block),
                                 shape);
  }
}

template <typename T, int B>
void average_pool_backward(const View& dy, const View& dx, const PoolShape& shape, Work work) {
  for (int image = work.first_image; image < work.last_image; ++image) {
    average_windows<B, Covering, T>(outputs<const T>(dy, shape, image, work.block),
                                    inputs<T>(dx, shape, image, work.block), shape);
  }
}

template <typename T, int B>
void global_average(const View& x, int pixels, Work work, float* mean, int channels) {
  const float share = 1.0f / static_cast<float>(pixels);
  for (int image = work.first_image; image < work.last_image; ++image) {
    const T* const in = plane<const T>(x, image, work.block);
    typename Lanes<B>::Float sum{};
    for (int pixel = 0; pixel < pixels; ++pixel) sum += load<B>(in + pixel * x.pixel_stride);
    store<B>(mean + std::int64_t{image} * channels + work.block * B, sum * share);
  }
}

template <typename T, int B>
void global_average_backward(const float* dmean, int channels, const View& dx, int pixels, Work work) {
  const float share = 1.0f / static_cast<float>(pixels);
  for (int image = work.first_image; image < work.last_image; ++image) {
    const auto gradient = load<B>(dmean + std::int64_t{image} * channels + work.block * B) * share;
    T* const out = plane<T>(dx, image, work.block);
    for (int pixel = 0; pixel < pixels; ++pixel) store<B>(out + pixel * dx.pixel_stride, gradient);
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
