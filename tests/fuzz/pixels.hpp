// A copy of a decoded image, to be compared with others.
#pragma once

#include <cstdint>
#include <vector>

#include "image/gray_image.hpp"

namespace chexbench::fuzz {

struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rows;  // without gaps

  friend bool operator==(const Pixels&, const Pixels&) = default;
};

inline Pixels copy_of(const image::GrayImage& image) {
  Pixels pixels{.width = image.width, .height = image.height, .rows = {}};
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(y) * image.stride;
    pixels.rows.insert(pixels.rows.end(), row, row + image.width);
  }
  return pixels;
}

}  // namespace chexbench::fuzz
