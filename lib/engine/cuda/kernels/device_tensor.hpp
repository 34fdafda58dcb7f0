// What the kernels' launchers share. Includes no CUDA, so that any file of the engine can call them.
//
// All launchers: pointers are device memory; work is queued on the stream and nothing waits for it; nothing is
// allocated; they may be captured into a CUDA graph. @throws DeviceError where CUDA refuses the launch.
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace chexbench::engine::cuda::kernels {

using Stream = CUstream_st*;

enum class ElementType { f32, f16, bf16 };

// [rows][channels] of one element type; row r begins at data + r * ld elements. NHWC tensors, rows being pixels, and
// channel slices of them. Moved 16 bytes at a time where data, ld and channels allow it, else by element.
struct Matrix {
  void* data = nullptr;
  std::int64_t ld = 0;

  bool exists() const { return data != nullptr; }
};

}  // namespace chexbench::engine::cuda::kernels
