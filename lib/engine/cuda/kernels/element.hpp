// The element types of tensors. Kernels compute in f32 for tensors of any type: Element<T> widens the values that they
// load and narrows those that they store. On the device T is CUDA's own half type (device_element.cuh); on the host the
// tests use the equivalent types of core/half.hpp.
#pragma once

#include <cmath>

#include "core/half.hpp"

// Lets one function be compiled for the device and, by a compiler without CUDA, for the tests on the host. Conditional
// compilation is only here and in launch.cuh, because only a function's own declaration can say where it runs.
#if defined(__CUDACC__) || defined(__CUDA__)
#define CHEXBENCH_HOST_DEVICE __host__ __device__
#else
#define CHEXBENCH_HOST_DEVICE
inline float rsqrtf(float value) { return 1.0f / sqrtf(value); }  // Exists in CUDA but not in C++.
#endif

namespace chexbench::engine::cuda::kernels {

using chexbench::BFloat16;
using chexbench::Half;
using chexbench::to_bfloat16;
using chexbench::to_float;
using chexbench::to_half;

template <typename T>
struct Element;

template <>
struct Element<float> {
  CHEXBENCH_HOST_DEVICE static float widen(float value) { return value; }
  CHEXBENCH_HOST_DEVICE static float narrow(float value) { return value; }
};

template <>
struct Element<Half> {
  static float widen(Half value) { return to_float(value); }
  static Half narrow(float value) { return to_half(value); }
};

template <>
struct Element<BFloat16> {
  static float widen(BFloat16 value) { return to_float(value); }
  static BFloat16 narrow(float value) { return to_bfloat16(value); }
};

// Elements in 16 bytes, the widest load of the device.
template <typename T>
inline constexpr int kVectorWidth = 16 / static_cast<int>(sizeof(T));

constexpr int pack_alignment(int bytes) { return bytes > 16 ? 16 : bytes; }

// N consecutive elements that are loaded or stored together; N * sizeof(T) must be a power of two.
template <typename T, int N>
struct alignas(pack_alignment(N* static_cast<int>(sizeof(T)))) Pack {
  T at[N];
};

template <int N, typename T>
CHEXBENCH_HOST_DEVICE Pack<T, N> load(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}

template <int N, typename T>
CHEXBENCH_HOST_DEVICE void store(T* to, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

template <typename T, int N>
CHEXBENCH_HOST_DEVICE float widened(const Pack<T, N>& pack, int i) {
  return Element<T>::widen(pack.at[i]);
}

}  // namespace chexbench::engine::cuda::kernels
