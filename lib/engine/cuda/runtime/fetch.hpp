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
std::vector<T> fetch_rows(const void* from, const RowBytes& rows, Stream stream) {
  std::vector<T> values(rows.rows * rows.row_bytes / sizeof(T));
  copy_rows_to_host(values.data(), from, rows, stream);
  synchronize(stream);
  return values;
}

template <typename T>
std::vector<float> widened(const std::vector<T>& values) {
  std::vector<float> wide(values.size());
  std::ranges::transform(values, wide.begin(), kernels::Element<T>::widen);
  return wide;
}

inline std::vector<float> fetch_as_floats(FloatType type, const void* from, std::size_t count, Stream stream) {
  if (type == FloatType::f32) return fetch<float>(from, count, stream);
  return type == FloatType::fp16 ? widened(fetch<kernels::Half>(from, count, stream))
                                 : widened(fetch<kernels::BFloat16>(from, count, stream));
}

inline std::vector<float> fetch_rows_as_floats(FloatType type, const void* from, const RowBytes& rows, Stream stream) {
  if (type == FloatType::f32) return fetch_rows<float>(from, rows, stream);
  return type == FloatType::fp16 ? widened(fetch_rows<kernels::Half>(from, rows, stream))
                                 : widened(fetch_rows<kernels::BFloat16>(from, rows, stream));
}

}  // namespace chexbench::engine::cuda
