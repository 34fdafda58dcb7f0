// A PNG file taken apart: header, chunks and checksums, no pixels. Source: PNG specification, second edition (W3C,
// 2003).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace chexbench::image {

// The pieces are views of the bytes that were parsed.
struct PngFile {
  int width = 0;
  int height = 0;
  int bit_depth = 0;
  int color_type = 0;  // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA
  bool interlaced = false;
  // 8 bits a channel, no palette, not interlaced, and no chunk that could change how the pixels are read.
  bool simple = false;
  std::vector<std::span<const std::byte>> image_data;  // of the IDAT chunks, in order
  std::size_t image_data_offset = 0;                   // in the file, of the first IDAT chunk's data
  // The signature and the whole chunks that bear on the pixels: one after another, a PNG without the rest.
  std::vector<std::span<const std::byte>> essentials;

  int channels() const;
};

// Whether the bytes begin with PNG's signature.
bool is_png(std::span<const std::byte> bytes);

// Parses `bytes` into `png`, whose memory is reused. `name` is for messages. Bytes after IEND are ignored.
// @throws DataError (name, offset, reason): no PNG, truncated, a wrong CRC, no header or image data, more than
// kMaxImageSide pixels a side, or too little image data for the size that the header names
void parse_png(std::span<const std::byte> bytes, const std::string& name, PngFile& png);

}  // namespace chexbench::image
