// The batch norm kernels over tiles of several blocks: pixel by pixel, and in each pixel block by block, so that NHWC
// is read in the order of memory. The factors and sums of the channels then stay in the cache of level 1 instead of
// registers. See norm_kernels.hpp for the twins for one block. Only kernels_*.cpp may include this header.
#pragma once

#include "engine/onednn/vector.hpp"

namespace chexbench::engine::onednn {
namespace {

// The sums of a run of pixels for each block of a tile.
template <int B>
struct TileSum {
  typename Lanes<B>::Float run[kMaxTile] = {};

  void drain(double* to, int blocks) {
    for (int b = 0; b < blocks; ++b) {
      for (int lane = 0; lane < B; ++lane) to[b * kSumStride + lane] += static_cast<double>(run[b][lane]);
      run[b] = typename Lanes<B>::Float{};
    }
  }
};

// The elements of one image in a tile.
template <typename T, int B>
struct TileOf {
  T* data;
  std::int64_t pixel_stride, block_stride;

  TileOf(const View& view, Work work, int image)
      : data(view.data != nullptr ? plane<T>(view, image, work.block) : nullptr),
        pixel_stride(view.pixel_stride),
        block_stride(view.block_stride) {}
  T* at(int pixel, int b) const { return data + pixel * pixel_stride + b * block_stride; }
  typename Lanes<B>::Float get(int pixel, int b) const { return load<B>(at(pixel, b)); }
  void set(int pixel, int b, typename Lanes<B>::Float value) const { store<B>(at(pixel, b), value); }
};

// The g of NormBackward, for any block of a tile.
template <typename T, int B, bool kOutput, bool kTwo>
struct TileGradient {
  typedef typename Lanes<B>::Float Float;

  TileGradient(const NormBackward& n, Work work, int image)
      : norm(n),
        block(work.block),
        x(n.x, work, image),
        gradient(n.gradient, work, image),
        gradient2(n.gradient2, work, image),
        output(n.output, work, image) {}

  Float at(int pixel, int b, Float input) const {
    Float sum = gradient.get(pixel, b);
    if constexpr (kTwo) sum += gradient2.get(pixel, b);
    if constexpr (kOutput) return passed<B>(sum, output.get(pixel, b), norm.clamp);
    const Float scale = channels<B>(norm.scale, block + b), shift = channels<B>(norm.shift, block + b);
    return passed<B>(sum, scale * input + shift, norm.clamp);
  }

  const NormBackward& norm;
  const int block;
  const TileOf<const T, B> x, gradient, gradient2, output;
};

template <typename T, int B, bool kCopy>
void tile_statistics(const View& x, const View& y, int pixels, Work work, double* sum, double* sum_squares) {
  TileSum<B> plain, squared;
  for (int image = work.first_image; image < work.last_image; ++image) {
    const TileOf<const T, B> in(x, work, image);
    const TileOf<T, B> out(y, work, image);
    in_runs(
        pixels,
        [&](int pixel) __attribute__((always_inline)) {
          for (int b = 0; b < work.blocks; ++b) {
            const auto value = in.get(pixel, b);
            plain.run[b] += value;
            squared.run[b] += value * value;
            if constexpr (kCopy) out.set(pixel, b, value);
          }
        },
        [&] {
          plain.drain(sum, work.blocks);
          squared.drain(sum_squares, work.blocks);
        });
  }
}

template <typename T, int B, bool kResidual>
void tile_normalize(const NormForward& norm, Work work) {
  for (int image = work.first_image; image < work.last_image; ++image) {
    const TileOf<const T, B> in(norm.x, work, image), residual(norm.residual, work, image);
    const TileOf<T, B> out(norm.y, work, image);
    for (int pixel = 0; pixel < norm.pixels; ++pixel) {
      for (int b = 0; b < work.blocks; ++b) {
        const int block = work.block + b;
        auto value = channels<B>(norm.scale, block) * in.get(pixel, b) + channels<B>(norm.shift, block);
        if constexpr (kResidual) value += residual.get(pixel, b);
        out.set(pixel, b, clamped<B>(value, norm.clamp));
      }
    }
  }
}

// Adds up g and g * (x - mean), and passes each g on: writer(image) returns the function to call with (pixel, b, g).
template <typename T, int B, bool kOutput, bool kTwo, typename Writer>
[[gnu::always_inline]] inline void tile_sum_gradient(const NormBackward& norm, Work work, double* sum,
                                                     double* sum_product, const Writer& writer) {
  TileSum<B> plain, product;
  for (int image = work.first_image; image < work.last_image; ++image) {
    const TileGradient<T, B, kOutput, kTwo> masked(norm, work, image);
    const auto write = writer(image);
    in_runs(
        norm.pixels,
        [&](int pixel) __attribute__((always_inline)) {
          for (int b = 0; b < work.blocks; ++b) {
            const auto x = masked.x.get(pixel, b);
            const auto g = masked.at(pixel, b, x);
            write(pixel, b, g);
            plain.run[b] += g;
            product.run[b] += g * (x - channels<B>(norm.mean, work.block + b));
          }
        },
        [&] {
          plain.drain(sum, work.blocks);
          product.drain(sum_product, work.blocks);
        });
  }
}

template <typename T, int B, bool kOutput, bool kTwo>
void tile_gradient_sums(const NormBackward& norm, Work work, double* sum, double* sum_product) {
  tile_sum_gradient<T, B, kOutput, kTwo>(norm, work, sum, sum_product, [&](int image) {
    const TileOf<T, B> kept(norm.masked, work, image);
    return [kept](int pixel, int b, auto g) __attribute__((always_inline)) {
      if (kept.data != nullptr) kept.set(pixel, b, g);
    };
  });
}

template <typename T, int B, bool kMasked, bool kTwo>
void tile_gradient_apply(const NormBackward& norm, const NormInputGradient& input, Work work) {
  for (int image = work.first_image; image < work.last_image; ++image) {
    const TileGradient<T, B, false, kTwo> gradient(norm, work, image);
    const TileOf<const T, B> kept(norm.masked, work, image);
    const TileOf<T, B> dx(input.dx, work, image);
    for (int pixel = 0; pixel < norm.pixels; ++pixel) {
      for (int b = 0; b < work.blocks; ++b) {
        const int block = work.block + b;
        const auto x = gradient.x.get(pixel, b);
        typename Lanes<B>::Float g;
        if constexpr (kMasked) {
          g = kept.get(pixel, b);
        } else {
          g = gradient.at(pixel, b, x);
        }
        dx.set(pixel, b,
               channels<B>(input.a, block) * g + (channels<B>(input.b, block) * x + channels<B>(input.c, block)));
      }
    }
  }
}

template <typename T, int B, bool kFirst>
void tile_gradient_accumulate(const NormBackward& norm, const float* factor, const View& total, Work work, double* sum,
                              double* sum_product) {
  tile_sum_gradient<T, B, false, false>(norm, work, sum, sum_product, [&](int image) {
    const TileOf<float, B> out(total, work, image);
    return [ out, factor, work ](int pixel, int b, auto g) __attribute__((always_inline)) {
      const auto added = channels<B>(factor, work.block + b) * g;
      if constexpr (kFirst) {
        out.set(pixel, b, added);
      } else {
        out.set(pixel, b, out.get(pixel, b) + added);
      }
    };
  });
}

template <typename T, int B>
void tile_gradient_finish(const View& total, const View& x, const NormInputGradient& input, int pixels, Work work) {
  for (int image = work.first_image; image < work.last_image; ++image) {
    const TileOf<const float, B> sum(total, work, image);
    const TileOf<const T, B> in(x, work, image);
    const TileOf<T, B> dx(input.dx, work, image);
    for (int pixel = 0; pixel < pixels; ++pixel) {
      for (int b = 0; b < work.blocks; ++b) {
        const int block = work.block + b;
        dx.set(pixel, b,
               sum.get(pixel, b) + (channels<B>(input.b, block) * in.get(pixel, b) + channels<B>(input.c, block)));
      }
    }
  }
}

template <typename T, int B>
void tile_add(const View& x, const View& y, int pixels, Work work) {
  for (int image = work.first_image; image < work.last_image; ++image) {
    const TileOf<const T, B> in(x, work, image);
    const TileOf<T, B> out(y, work, image);
    for (int pixel = 0; pixel < pixels; ++pixel) {
      for (int b = 0; b < work.blocks; ++b) out.set(pixel, b, out.get(pixel, b) + in.get(pixel, b));
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
