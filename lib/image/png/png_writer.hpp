// Writing PNG files in the styles that ChestX-ray14's copies are found in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::image {

// published: NIH's bytes: zlib level 6 (header 789c), 8 KiB IDAT chunks, a tIME chunk, each row filtered by the one of
// Sub, Up, Average, Paeth whose differences are smallest. resaved: as OpenCV writes: level 1 (7801), Sub on every row.
// rgba: four channels with R=G=B and alpha 255, filtered as published, as a few of the 112,120 are.
enum class PngStyle { published, resaved, rgba };

// One a thread: keeps buffers between images.
class PngWriter {
 public:
  // Encodes `size` x `size` 8-bit gray pixels. The result is valid until the next call.
  std::span<const std::byte> encode(std::span<const std::uint8_t> gray, int size, PngStyle style);

 private:
  void filter_rows(std::span<const std::uint8_t> pixels, int rows, std::size_t row_bytes, int channels, PngStyle style);
  void compress(PngStyle style);

  std::vector<std::uint8_t> rgba_, filtered_, candidate_, compressed_;
  std::vector<std::byte> file_;
};

}  // namespace chexbench::image
