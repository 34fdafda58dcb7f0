#include "image/jpeg_builder.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <jpeglib.h>

namespace chexbench::image::test {

std::vector<std::byte> build_jpeg(const JpegRecipe& recipe, std::span<const std::uint8_t> pixels) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<unsigned>(recipe.width);
  info.image_height = static_cast<unsigned>(recipe.height);
  info.input_components = recipe.channels;
  info.in_color_space = recipe.channels == 1 ? JCS_GRAYSCALE : recipe.channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, recipe.quality, TRUE);
  if (recipe.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  const auto stride = static_cast<std::size_t>(recipe.width) * static_cast<std::size_t>(recipe.channels);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels.data() + info.next_scanline * stride);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* const begin = reinterpret_cast<const std::byte*>(memory);
  std::vector<std::byte> file(begin, begin + size);
  std::free(memory);
  return file;
}

std::vector<std::uint8_t> soft_picture(const JpegRecipe& recipe) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < recipe.height; ++y) {
    for (int x = 0; x < recipe.width; ++x) {
      for (int c = 0; c < recipe.channels; ++c) {
        const double wave = std::sin(x * 0.05 + c) * std::cos(y * 0.04 - c);
        pixels.push_back(static_cast<std::uint8_t>(128 + 90 * wave + static_cast<double>(random() % 9)));
      }
    }
  }
  return pixels;
}

}  // namespace chexbench::image::test
