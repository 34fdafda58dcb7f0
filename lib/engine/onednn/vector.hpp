// Vectors of B lanes in the compiler's vector types: one source that is compiled for each instruction set.
// Only kernels_*.cpp may include this header. Everything has internal linkage, or the linker would keep one instruction
// set's version of a function and use it for all of them.
#pragma once

#include <cstdint>

#include "engine/onednn/kernels.hpp"

namespace chexbench::engine::onednn {
namespace {

template <int B>
struct Lanes {
  typedef float Float __attribute__((vector_size(B * 4), may_alias));
  typedef std::int32_t Int __attribute__((vector_size(B * 4), may_alias));
  typedef std::uint32_t Bits __attribute__((vector_size(B * 4), may_alias));
  typedef std::uint16_t Half __attribute__((vector_size(B * 2), may_alias));
  typedef std::uint8_t Byte __attribute__((vector_size(B), may_alias));
};

struct BFloat16 {
  std::uint16_t bits;
};

template <int B>
inline typename Lanes<B>::Float load(const float* from) {
  return *reinterpret_cast<const typename Lanes<B>::Float*>(from);
}

template <int B>
inline typename Lanes<B>::Float load(const BFloat16* from) {
  const auto half = *reinterpret_cast<const typename Lanes<B>::Half*>(from);
  return reinterpret_cast<typename Lanes<B>::Float>(__builtin_convertvector(half, typename Lanes<B>::Bits) << 16);
}

template <int B>
inline void store(float* to, typename Lanes<B>::Float value) {
  *reinterpret_cast<typename Lanes<B>::Float*>(to) = value;
}

// Returns the values of the channels of `block` from an array with one value per channel, which need not be aligned.
template <int B>
inline typename Lanes<B>::Float channels(const float* array, int block) {
  typename Lanes<B>::Float values;
  __builtin_memcpy(&values, array + block * B, sizeof values);
  return values;
}

// Rounds to nearest, ties to even.
template <int B>
inline void store(BFloat16* to, typename Lanes<B>::Float value) {
  const auto bits = reinterpret_cast<typename Lanes<B>::Bits>(value);
  const auto rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)) >> 16;
  *reinterpret_cast<typename Lanes<B>::Half*>(to) = __builtin_convertvector(rounded, typename Lanes<B>::Half);
}

// NaN stays NaN, as in PyTorch, since comparisons with NaN are false.
template <int B>
inline typename Lanes<B>::Float clamped(typename Lanes<B>::Float value, Clamp clamp) {
  value = value < clamp.low ? clamp.low - typename Lanes<B>::Float{} : value;
  return value > clamp.high ? clamp.high - typename Lanes<B>::Float{} : value;
}

// Returns 0 where value <= low or value >= high, else the gradient. A NaN value lets the gradient pass.
template <int B>
inline typename Lanes<B>::Float passed(typename Lanes<B>::Float gradient, typename Lanes<B>::Float value, Clamp clamp) {
  return ((value <= clamp.low) | (value >= clamp.high)) ? typename Lanes<B>::Float{} : gradient;
}

// Returns the first pixel of a block of an image; the following ones are at multiples of the view's pixel stride.
template <typename T>
inline T* plane(const View& view, int image, int block) {
  return reinterpret_cast<T*>(view.data) + image * view.image_stride + block * view.block_stride;
}

// Sums over pixels without losing digits: in f32 within a run of pixels, and in double over the runs. Even and odd
// pixels have separate f32 sums.
template <int B>
struct PixelSum {
  typename Lanes<B>::Float run[2] = {};

  void add(int pixel, typename Lanes<B>::Float value) { run[pixel & 1] += value; }
  void drain(double* to) {
    const auto sum = run[0] + run[1];
    for (int lane = 0; lane < B; ++lane) to[lane] += static_cast<double>(sum[lane]);
    run[0] = run[1] = typename Lanes<B>::Float{};
  }
};

// The number of pixels whose values are added up in f32 before the sum goes to a double: longer runs would lose digits.
constexpr int kRunPixels = 1024;

// Calls body(pixel) for each pixel in order, and drain() after each run of kRunPixels.
template <typename Body, typename Drain>
inline void in_runs(int pixels, const Body& body, const Drain& drain) {
  for (int first = 0; first < pixels; first += kRunPixels) {
    const int last = pixels - first < kRunPixels ? pixels : first + kRunPixels;
    int pixel = first;
    for (; pixel + 1 < last; pixel += 2) {
      body(pixel);
      body(pixel + 1);
    }
    if (pixel < last) body(pixel);
    drain();
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
