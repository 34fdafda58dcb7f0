// Copies values from device memory to the host. All functions queue the copy on `stream` and wait for that stream.
// @throws DeviceError if the device fails
#pragma once

#include <algorithm>
#include <vector>

#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

template <typename T>
std::vector<T> fetch(const void* from, std::size_t count, Stream stream) {
  std::vector<T> values(count);
  copy_to_host(values.data(), from, count * sizeof(T), stream);
  synchronize(stream);
  return values;
}

template <typename T>
std::vector<float> fetch_as_floats(const void* from, std::size_t count, Stream stream) {
  std::vector<float> wide(count);
  std::ranges::transform(fetch<T>(from, count, stream), wide.begin(), kernels::Element<T>::widen);
  return wide;
}

inline std::vector<float> fetch_as_floats(kernels::ElementType type, const void* from, std::size_t count,
                                          Stream stream) {
  if (type == kernels::ElementType::f32) return fetch<float>(from, count, stream);
  return type == kernels::ElementType::f16 ? fetch_as_floats<kernels::Half>(from, count, stream)
                                           : fetch_as_floats<kernels::BFloat16>(from, count, stream);
}

}  // namespace chexbench::engine::cuda
