// What chexbench_opencv.so offers: OpenCV's decoders behind a table of C functions. OpenCV brings 141 libraries and
// costs 120 ms of CPU at start, so the binary loads it only at the first image that needs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::image {

inline constexpr int kOpencvPluginVersion = 1;
inline constexpr const char* kOpencvPluginFile = "chexbench_opencv.so";
inline constexpr const char* kOpencvPluginSymbol = "chexbench_opencv";

// 8-bit gray, rows `stride` bytes apart. Memory belongs to the decoder, until its next decode.
struct OpencvImage {
  const std::uint8_t* pixels;
  int width;
  int height;
  std::size_t stride;
};

// No exception crosses this table.
struct OpencvPlugin {
  int version;
  // One decoder a thread. Null: out of memory.
  void* (*create)();
  void (*destroy)(void* decoder);
  // Any format that OpenCV reads. 0 on success, else `reason` (of `reason_bytes`) says why not.
  int (*decode)(void* decoder, const std::uint8_t* bytes, std::size_t size, OpencvImage* image, char* reason,
                std::size_t reason_bytes);
};

using OpencvPluginEntry = const OpencvPlugin* (*)();

}  // namespace chexbench::image
