// A decoded image, and the bounds that decoders respect.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::image {

// An 8-bit gray image in rows of `stride` bytes. Memory belongs to the decoder that made it, until its next decode.
struct GrayImage {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
  std::size_t stride = 0;
};

// Images larger than this on a side are refused by their header, before memory is taken for their pixels; where the
// user set OpenCV's OPENCV_IO_MAX_IMAGE_WIDTH, _HEIGHT or _PIXELS, other files than PNGs are decoded within those
// first.
inline constexpr int kMaxImageSide = 16384;

// The size below which an image must not shrink while it is decoded; empty: it is decoded at its own.
struct LeastSize {
  int width = 0;
  int height = 0;

  bool empty() const { return width == 0 || height == 0; }
};

}  // namespace chexbench::image
