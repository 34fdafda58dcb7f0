// Copies the pixels of an image without the bytes between its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "image/decoder.hpp"

namespace chexbench::image::test {

inline std::vector<std::uint8_t> pixels_of(const GrayImage& image) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(y) * image.stride;
    pixels.insert(pixels.end(), row, row + image.width);
  }
  return pixels;
}

}  // namespace chexbench::image::test
