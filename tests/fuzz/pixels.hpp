// A copy of a decoded image, to be compared with others.
#pragma once

#include <cstdint>
#include <vector>

#include "image/decoded_image.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::fuzz {

struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rows;  // without gaps; of three channels if they are compared as colors

  friend bool operator==(const Pixels&, const Pixels&) = default;
};

// Returns the pixels as they are, or, of a gray image among colors, with three equal channels.
inline Pixels copy_of(const image::DecodedImage& image, spec::Color color = spec::Color::gray) {
  Pixels pixels{.width = image.width, .height = image.height, .rows = {}};
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const row = image.pixels + static_cast<std::size_t>(y) * image.stride;
    const bool spreads = color == spec::Color::rgb && image.channels == 1;
    if (!spreads) pixels.rows.insert(pixels.rows.end(), row, row + image.width * image.channels);
    for (int x = 0; spreads && x < image.width; ++x) pixels.rows.insert(pixels.rows.end(), 3, row[x]);
  }
  return pixels;
}

}  // namespace chexbench::fuzz
