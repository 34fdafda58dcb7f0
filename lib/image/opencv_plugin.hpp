// The interface of chexbench_opencv.so: a table of C functions that call OpenCV's decoders. OpenCV brings 141 libraries
// and costs 120 ms of CPU at start, so the program loads it only at the first image that needs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::image {

// Increase the version with each change of this header: the program refuses a plugin of another version.
inline constexpr int kOpencvPluginVersion = 4;
inline constexpr const char* kOpencvPluginFile = "chexbench_opencv.so";
inline constexpr const char* kOpencvPluginSymbol = "chexbench_opencv";

// An image of 8 bits a channel whose rows are `stride` bytes apart. The memory belongs to the decoder and is valid
// until its next decode.
struct OpencvImage {
  const std::uint8_t* pixels;
  int width;
  int height;
  std::size_t stride;
};

// The table of functions. None of them throws.
struct OpencvPlugin {
  int version;
  // Writes the version of the OpenCV that was loaded.
  void (*library_version)(int* major, int* minor, int* revision);
  // Returns a decoder, which only one thread may use at a time, or null if there is no memory.
  void* (*create)();
  void (*destroy)(void* decoder);
  // Decodes a file of any format that OpenCV reads to 1 channel, gray, or to 3, red, green and blue. 16 bits of a PNG
  // are scaled to 8 (decoded_image.hpp). Returns 0 on success. Otherwise it writes the reason into `reason`, which has
  // `reason_bytes` bytes, with a 0 at its end.
  int (*decode)(void* decoder, const std::uint8_t* bytes, std::size_t size, int channels, OpencvImage* image,
                char* reason, std::size_t reason_bytes);
};

using OpencvPluginEntry = const OpencvPlugin* (*)();

}  // namespace chexbench::image
