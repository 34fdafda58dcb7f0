// Parses the header and the chunks of a PNG file and checks their CRCs, without decoding pixels. Source: PNG
// specification, second edition (W3C, 2003).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench::image {

// A parsed PNG. Its spans are views of the bytes that were parsed.
struct PngFile {
  int width = 0;  // in pixels
  int height = 0;
  int bit_depth = 0;   // per channel
  int color_type = 0;  // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA
  bool interlaced = false;
  // True if the file has 8 bits per channel, or 16 and no colors; no palette, no interlacing, and no chunk that could
  // change how the pixels are read, unless describes_colors is set.
  bool simple = false;
  // True if a file of colors has a chunk that may define how they are mixed to gray.
  bool describes_colors = false;
  std::vector<std::span<const std::byte>> image_data;  // the data of the IDAT chunks, in order
  std::size_t image_data_offset = 0;                   // in the file, of the first IDAT chunk's data
  // The signature and each whole chunk that can affect the pixels. Joined, they are a PNG without the other chunks.
  std::vector<std::span<const std::byte>> essentials;

  // Returns the number of channels of the color type; 1 for a palette or an unknown type.
  int channels() const;
  // Returns the bytes of a pixel of a simple file. PNG's filters predict each from the same byte of other pixels.
  int pixel_bytes() const { return channels() * bit_depth / 8; }
  // Returns true for RGB, RGBA and palettes.
  bool has_colors() const { return (color_type & 2) != 0; }
  std::int64_t pixels() const { return std::int64_t{width} * height; }
};

// Returns true if the bytes begin with PNG's signature.
bool is_png(std::span<const std::byte> bytes);

// Parses `bytes` into `png`, whose memory it reuses, and ignores the bytes after IEND. `name` is the file's name for
// messages.
// @throws DataError if the bytes are not a PNG or are truncated, have a wrong CRC, no header or no image data, if
// refuse_size() refuses the size, or if there is too little image data for the size in the header; the message gives
// the name, the offset and the reason
// @throws SpecError as max_image_pixels()
void parse_png(std::span<const std::byte> bytes, const std::string& name, PngFile& png);

// Returns true for chunks of texts, times and places, which change no pixels and which libpng would inflate or warn
// about, and for those of an animation, where only the still image is needed.
bool is_left_out(std::string_view type);

// Returns true for chunks that define the meaning of color values. If they give a gamma, libpng mixes red, green and
// blue to gray in linear light. Gray values stay as they are, so these chunks matter only for colors.
bool describes_colors(std::string_view type);

// Returns true for chunks that are not critical and that our decoder ignores: transparency and orientation.
bool changes_pixels(std::string_view type);

// Returns true if the data of an iCCP chunk are an ICC profile for gray images. In a file of colors libpng warns about
// such a profile and ignores it, and also the chunks after it that describe colors.
bool is_gray_profile(std::span<const std::byte> data);

}  // namespace chexbench::image
