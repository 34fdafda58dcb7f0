// Custom JPEG files for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::image::test {

struct JpegRecipe {
  int width = 0;
  int height = 0;
  int channels = 1;  // 1 gray, 3 RGB, 4 CMYK
  int quality = 90;
  bool progressive = false;
};

// Encodes `pixels`, which are width x height x channels. Aborts if libjpeg fails.
std::vector<std::byte> build_jpeg(const JpegRecipe& recipe, std::span<const std::uint8_t> pixels);

// Makes a smooth picture with some grain, which a JPEG encodes like a photograph.
std::vector<std::uint8_t> soft_picture(const JpegRecipe& recipe);

inline std::vector<std::byte> build_jpeg(const JpegRecipe& recipe) { return build_jpeg(recipe, soft_picture(recipe)); }

}  // namespace chexbench::image::test
