// The batch norm kernels; see kernels.hpp for their contracts. Only kernels_*.cpp may include this header.
#pragma once

#include "engine/onednn/tile_kernels.hpp"

namespace chexbench::engine::onednn {
namespace {

template <typename T, int B, bool kCopy>
void statistics_of(const View& x, const View& y, int pixels, Work work, double* sum, double* sum_squares) {
  PixelSum<B> plain, squared;
  for (int image = work.first_image; image < work.last_image; ++image) {
    const T* const in = plane<const T>(x, image, work.block);
    T* const out = kCopy ? plane<T>(y, image, work.block) : nullptr;
    in_runs(
        pixels,
        [&](int pixel) __attribute__((always_inline)) {
          const auto value = load<B>(in + pixel * x.pixel_stride);
          plain.add(pixel, value);
          squared.add(pixel, value * value);
          if constexpr (kCopy) store<B>(out + pixel * y.pixel_stride, value);
        },
        [&] {
          plain.drain(sum);
          squared.drain(sum_squares);
        });
  }
}

template <typename T, int B>
void statistics(const View& x, int pixels, Work work, double* sum, double* sum_squares) {
  (work.blocks > 1 ? tile_statistics<T, B, false> : statistics_of<T, B, false>)(x, {}, pixels, work, sum, sum_squares);
}

template <typename T, int B>
void copy_statistics(const View& x, const View& y, int pixels, Work work, double* sum, double* sum_squares) {
  (work.blocks > 1 ? tile_statistics<T, B, true> : statistics_of<T, B, true>)(x, y, pixels, work, sum, sum_squares);
}

template <typename T, int B, bool kResidual>
void normalize_with(const NormForward& norm, Work work) {
  const auto scale = channels<B>(norm.scale, work.block);
  const auto shift = channels<B>(norm.shift, work.block);
  for (int image = work.first_image; image < work.last_image; ++image) {
    const T* in = plane<const T>(norm.x, image, work.block);
    const T* residual = kResidual ? plane<const T>(norm.residual, image, work.block) : nullptr;
    T* out = plane<T>(norm.y, image, work.block);
    for (int pixel = 0; pixel < norm.pixels; ++pixel) {
      auto value = scale * load<B>(in + pixel * norm.x.pixel_stride) + shift;
      if constexpr (kResidual) value += load<B>(residual + pixel * norm.residual.pixel_stride);
      store<B>(out + pixel * norm.y.pixel_stride, clamped<B>(value, norm.clamp));
    }
  }
}

template <typename T, int B>
void normalize(const NormForward& norm, Work work) {
  if (norm.residual.data != nullptr) {
    (work.blocks > 1 ? tile_normalize<T, B, true> : normalize_with<T, B, true>)(norm, work);
  } else {
    (work.blocks > 1 ? tile_normalize<T, B, false> : normalize_with<T, B, false>)(norm, work);
  }
}

// Reads x and computes the masked gradient g of NormBackward, pixel by pixel, for one block of one image. kOutput:
// norm.output is given; kTwo: norm.gradient2 is given.
template <typename T, int B, bool kOutput, bool kTwo>
struct MaskedGradient {
  typedef typename Lanes<B>::Float Float;

  MaskedGradient(const NormBackward& n, Work work, int image)
      : norm(n),
        scale(channels<B>(n.scale, work.block)),
        shift(channels<B>(n.shift, work.block)),
        x(plane<const T>(n.x, image, work.block)),
        gradient(plane<const T>(n.gradient, image, work.block)),
        gradient2(kTwo ? plane<const T>(n.gradient2, image, work.block) : nullptr),
        output(kOutput ? plane<const T>(n.output, image, work.block) : nullptr) {}

  Float input(int pixel) const { return load<B>(x + pixel * norm.x.pixel_stride); }
  Float at(int pixel, Float input) const {
    Float sum = load<B>(gradient + pixel * norm.gradient.pixel_stride);
    if constexpr (kTwo) sum += load<B>(gradient2 + pixel * norm.gradient2.pixel_stride);
    if constexpr (kOutput) return passed<B>(sum, load<B>(output + pixel * norm.output.pixel_stride), norm.clamp);
    return passed<B>(sum, scale * input + shift, norm.clamp);
  }

  const NormBackward& norm;
  const Float scale, shift;
  const T *const x, *const gradient, *const gradient2, *const output;
};

// Adds up g and g * (x - mean), and passes each pixel's g on: writer(image) returns the function to call with (pixel,
// g).
template <typename T, int B, bool kOutput, bool kTwo, typename Writer>
[[gnu::always_inline]] inline void sum_gradient(const NormBackward& norm, Work work, double* sum, double* sum_product,
                                                const Writer& writer) {
  const auto mean = channels<B>(norm.mean, work.block);
  PixelSum<B> plain, product;
  for (int image = work.first_image; image < work.last_image; ++image) {
    const MaskedGradient<T, B, kOutput, kTwo> masked(norm, work, image);
    const auto write = writer(image);
    in_runs(
        norm.pixels,
        [&](int pixel) __attribute__((always_inline)) {
          const auto x = masked.input(pixel);
          const auto g = masked.at(pixel, x);
          write(pixel, g);
          plain.add(pixel, g);
          product.add(pixel, g * (x - mean));
        },
        [&] {
          plain.drain(sum);
          product.drain(sum_product);
        });
  }
}

template <typename T, int B, bool kOutput, bool kTwo>
void gradient_sums_with(const NormBackward& norm, Work work, double* sum, double* sum_product) {
  sum_gradient<T, B, kOutput, kTwo>(norm, work, sum, sum_product, [&](int image) {
    T* const kept = norm.masked.data != nullptr ? plane<T>(norm.masked, image, work.block) : nullptr;
    return [&norm, kept ](int pixel, auto g) __attribute__((always_inline)) {
      if (kept != nullptr) store<B>(kept + pixel * norm.masked.pixel_stride, g);
    };
  });
}

// The kernel for a block or a tile.
template <typename T, int B, bool kOutput, bool kTwo>
void gradient_sums_of(const NormBackward& norm, Work work, double* sum, double* sum_product) {
  (work.blocks > 1 ? tile_gradient_sums<T, B, kOutput, kTwo> : gradient_sums_with<T, B, kOutput, kTwo>)(norm, work, sum,
                                                                                                        sum_product);
}

template <typename T, int B>
void gradient_sums(const NormBackward& norm, Work work, double* sum, double* sum_product) {
  const bool two = norm.gradient2.data != nullptr;
  if (norm.output.data != nullptr) {
    (two ? gradient_sums_of<T, B, true, true> : gradient_sums_of<T, B, true, false>)(norm, work, sum, sum_product);
  } else {
    (two ? gradient_sums_of<T, B, false, true> : gradient_sums_of<T, B, false, false>)(norm, work, sum, sum_product);
  }
}

// If kMasked, g is read from norm.masked; otherwise it is recomputed as in gradient_sums().
template <typename T, int B, bool kMasked, bool kTwo>
void gradient_apply_with(const NormBackward& norm, const NormInputGradient& input, Work work) {
  const auto a = channels<B>(input.a, work.block);
  const auto b = channels<B>(input.b, work.block);
  const auto c = channels<B>(input.c, work.block);
  for (int image = work.first_image; image < work.last_image; ++image) {
    const MaskedGradient<T, B, false, kTwo> gradient(norm, work, image);
    const T* const kept = kMasked ? plane<const T>(norm.masked, image, work.block) : nullptr;
    T* const dx = plane<T>(input.dx, image, work.block);
    for (int pixel = 0; pixel < norm.pixels; ++pixel) {
      const auto x = gradient.input(pixel);
      typename Lanes<B>::Float g;
      if constexpr (kMasked) {
        g = load<B>(kept + pixel * norm.masked.pixel_stride);
      } else {
        g = gradient.at(pixel, x);
      }
      store<B>(dx + pixel * input.dx.pixel_stride, a * g + (b * x + c));
    }
  }
}

template <typename T, int B, bool kMasked, bool kTwo>
void gradient_apply_of(const NormBackward& norm, const NormInputGradient& input, Work work) {
  (work.blocks > 1 ? tile_gradient_apply<T, B, kMasked, kTwo> : gradient_apply_with<T, B, kMasked, kTwo>)(norm, input,
                                                                                                          work);
}

template <typename T, int B>
void gradient_apply(const NormBackward& norm, const NormInputGradient& input, Work work) {
  if (norm.masked.data != nullptr) {
    gradient_apply_of<T, B, true, false>(norm, input, work);
  } else if (norm.gradient2.data != nullptr) {
    gradient_apply_of<T, B, false, true>(norm, input, work);
  } else {
    gradient_apply_of<T, B, false, false>(norm, input, work);
  }
}

template <typename T, int B, bool kFirst>
void gradient_accumulate_with(const NormBackward& norm, const float* factor, const View& total, Work work, double* sum,
                              double* sum_product) {
  const auto a = channels<B>(factor, work.block);
  sum_gradient<T, B, false, false>(norm, work, sum, sum_product, [&](int image) {
    float* const out = plane<float>(total, image, work.block);
    return [&total, a, out ](int pixel, auto g) __attribute__((always_inline)) {
      float* const to = out + pixel * total.pixel_stride;
      if constexpr (kFirst) {
        store<B>(to, a * g);
      } else {
        store<B>(to, load<B>(to) + a * g);
      }
    };
  });
}

template <typename T, int B, bool kFirst>
void gradient_accumulate_of(const NormBackward& norm, const float* a, const View& total, Work work, double* sum,
                            double* sum_product) {
  (work.blocks > 1 ? tile_gradient_accumulate<T, B, kFirst>
                   : gradient_accumulate_with<T, B, kFirst>)(norm, a, total, work, sum, sum_product);
}

template <typename T, int B>
void gradient_accumulate(const NormBackward& norm, const float* a, const View& total, bool first, Work work,
                         double* sum, double* sum_product) {
  (first ? gradient_accumulate_of<T, B, true> : gradient_accumulate_of<T, B, false>)(norm, a, total, work, sum,
                                                                                     sum_product);
}

template <typename T, int B>
void gradient_finish(const View& total, const View& x, const NormInputGradient& input, int pixels, Work work) {
  if (work.blocks > 1) return tile_gradient_finish<T, B>(total, x, input, pixels, work);
  const auto b = channels<B>(input.b, work.block);
  const auto c = channels<B>(input.c, work.block);
  for (int image = work.first_image; image < work.last_image; ++image) {
    const float* const sum = plane<const float>(total, image, work.block);
    const T* const in = plane<const T>(x, image, work.block);
    T* const dx = plane<T>(input.dx, image, work.block);
    for (int pixel = 0; pixel < pixels; ++pixel) {
      const auto value = load<B>(sum + pixel * total.pixel_stride) + (b * load<B>(in + pixel * x.pixel_stride) + c);
      store<B>(dx + pixel * input.dx.pixel_stride, value);
    }
  }
}

template <typename T, int B>
void add(const View& x, const View& y, int pixels, Work work) {
  if (work.blocks > 1) return tile_add<T, B>(x, y, pixels, work);
  for (int image = work.first_image; image < work.last_image; ++image) {
    const T* const in = plane<const T>(x, image, work.block);
    T* const out = plane<T>(y, image, work.block);
    for (int pixel = 0; pixel < pixels; ++pixel) {
      T* const to = out + pixel * y.pixel_stride;
      store<B>(to, load<B>(to) + load<B>(in + pixel * x.pixel_stride));
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
