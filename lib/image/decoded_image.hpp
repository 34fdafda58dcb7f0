// A decoded image, and the limits that decoders respect.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chexbench::image {

// An image of 8 bits a channel: a view of the decoder's memory, valid until its next decode.
struct DecodedImage {
  const std::uint8_t* pixels = nullptr;
  int width = 0;  // in pixels
  int height = 0;
  std::size_t stride = 0;  // bytes from one row to the next, at least `width` x `channels`
  int channels = 1;        // 1 gray; 3 red, green and blue, interleaved
};

// Images larger than this on a side are refused. image_limits.hpp limits their pixels, too.
inline constexpr int kMaxImageSide = 16384;

// The size, in pixels, below which an image must not shrink while it is decoded. If empty, the image keeps its size.
struct LeastSize {
  int width = 0;
  int height = 0;

  bool empty() const { return width == 0 || height == 0; }
};

}  // namespace chexbench::image
