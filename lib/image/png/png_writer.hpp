// Writes PNG files in the styles of the copies of ChestX-ray14.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::image {

// - published: like NIH's files: zlib level 6 (header 789c), IDAT chunks of 8 KiB, a tIME chunk, and for each row the
//   filter among Sub, Up, Average and Paeth with the smallest differences.
// - resaved: as OpenCV writes them: zlib level 1 (header 7801), filter Sub for every row.
// - rgba: four channels with R=G=B and alpha 255, filtered as published, like a few of the 112,120 files.
enum class PngStyle { published, resaved, rgba };

// Encodes images. Not thread-safe, because it keeps buffers between images: use one per thread.
class PngWriter {
 public:
  // Encodes `size` x `size` packed 8-bit gray pixels. The result is valid until the next call.
  // @throws std::bad_alloc if there is no memory left
  std::span<const std::byte> encode(std::span<const std::uint8_t> gray, int size, PngStyle style) {
    return encode(gray, size, size, style);
  }
  // The same for `width` x `height` pixels.
  std::span<const std::byte> encode(std::span<const std::uint8_t> gray, int width, int height, PngStyle style);
  // Encodes `size` x `size` packed pixels of three channels (red, green, blue), in style published.
  // @throws as encode()
  std::span<const std::byte> encode_rgb(std::span<const std::uint8_t> rgb, int size);

 private:
  struct Shape {
    int width;
    int height;
    int channels;
  };
  std::span<const std::byte> encode_pixels(std::span<const std::uint8_t> pixels, const Shape& shape, PngStyle style);
  void filter_rows(std::span<const std::uint8_t> pixels, int rows, std::size_t row_bytes, int channels, PngStyle style);
  void compress(PngStyle style);

  std::vector<std::uint8_t> rgba_, filtered_, candidate_, compressed_;
  std::vector<std::byte> file_;
};

}  // namespace chexbench::image
