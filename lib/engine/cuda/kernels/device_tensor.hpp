// Types shared by the kernels' launchers. This header includes no CUDA, so any file of the engine can call a launcher.
//
// The contract of all launchers: pointers are device memory. A launcher queues its work on the stream and does not
// wait; it allocates nothing and may be captured into a CUDA graph. It may be called from any thread whose current
// device is the stream's.
// @throws DeviceError if CUDA refuses the launch
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/half.hpp"
#include "engine/cuda/kernels/element.hpp"

struct CUstream_st;  // cudaStream_t is a pointer to this type.

namespace chexbench::engine::cuda::kernels {

using Stream = CUstream_st*;

// A matrix [rows][channels] of one element type; row r begins at data + r * ld elements. It describes NHWC tensors,
// whose rows are pixels, and channel slices of them. Kernels move 16 bytes at a time if data, ld and channels allow it,
// else single elements. Does not own its memory.
struct Matrix {
  void* data = nullptr;
  std::int64_t ld = 0;

  bool exists() const { return data != nullptr; }
};

// A slice of channels in memory: row r begins at data + r * ld. Lengths are in elements.
template <typename T>
struct Rows {
  T* data = nullptr;
  std::int64_t ld = 0;

  CHEXBENCH_HOST_DEVICE T* at(int row, int channel) const { return data + row * ld + channel; }
  template <typename Const>
  requires std::is_same_v<Const, const T>
  operator Rows<Const>() const { return {data, ld}; }
};

// The matrix as rows of elements of that type.
template <typename T>
Rows<T> rows_of(const Matrix& matrix) {
  return {static_cast<T*>(matrix.data), matrix.ld};
}

}  // namespace chexbench::engine::cuda::kernels
