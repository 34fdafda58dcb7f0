// Copies the pixels of an image without the bytes between its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "image/decoder.hpp"

namespace chexbench::image::test {

inline std::vector<std::uint8_t> pixels_of(const DecodedImage& image) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(y) * image.stride;
    pixels.insert(pixels.end(), row, row + image.width * image.channels);
  }
  return pixels;
}

// Returns three channels, which are equal if the image has one.
inline std::vector<std::uint8_t> rgb_pixels_of(const DecodedImage& image) {
  const std::vector<std::uint8_t> pixels = pixels_of(image);
  if (image.channels == 3) return pixels;
  std::vector<std::uint8_t> rgb;
  for (const std::uint8_t gray : pixels) rgb.insert(rgb.end(), 3, gray);
  return rgb;
}

}  // namespace chexbench::image::test
