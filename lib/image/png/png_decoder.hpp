// The fast path for PNGs: decodes those of 8 bits per channel, or of 16 without colors, without palette or interlacing,
// to 8-bit gray or colors. RGBA is among them because one NIH file in 200 is RGBA; leaving those to OpenCV cost 5 to 8
// % of all decoding.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "image/decoded_image.hpp"
#include "image/png/png_file.hpp"
#include "image/png/png_inflate.hpp"
#include "image/png/png_unfilter.hpp"
#include "spec/trial_spec.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {

// Inflates and unfilters an image, converts colors to gray unless rgb is asked for, and drops alpha. Not thread-safe,
// because it keeps its buffers between calls: use one per thread.
class PngDecoder {
 public:
  explicit PngDecoder(spec::Color color, Isa isa = best_isa(), std::unique_ptr<Inflater> inflater = make_inflater())
      : color_(color), inflater_(std::move(inflater)), unfilter_(isa) {}
  explicit PngDecoder(Isa isa = best_isa(), std::unique_ptr<Inflater> inflater = make_inflater())
      : PngDecoder(spec::Color::gray, isa, std::move(inflater)) {}

  // Decodes a file with PngFile::simple set into image(). Returns std::nullopt on success, or else the reason, without
  // the name of the file. A file that describes its colors is converted to gray only if they all are gray, which no
  // gamma changes.
  std::optional<std::string> decode(const PngFile& png);

  // Returns the result of the last decode that succeeded. Its memory belongs to this object and is valid until the next
  // decode.
  const DecodedImage& image() const { return image_; }

 private:
  // Both return the first row with an unknown filter, or -1.
  int unfilter(const PngFile& png, const std::uint8_t* rows, storage::ByteBuffer& pixels);
  int unfilter_channels(const PngFile& png, const std::uint8_t* rows);
  PixelRows pixel_rows(storage::ByteBuffer& pixels, const PngFile& png) const;
  bool gives_rgb(const PngFile& png) const { return color_ == spec::Color::rgb && png.has_colors(); }
  DecodedImage joined_channels(const PngFile& png);

  const spec::Color color_;
  std::unique_ptr<Inflater> inflater_;
  Unfilter unfilter_;
  storage::ByteBuffer filtered_;
  storage::ByteBuffer channel_;                // filtered bytes of one of several channels
  std::array<storage::ByteBuffer, 3> pixels_;  // red, green and blue, or high and low; the first may end up as gray
  storage::ByteBuffer rgb_;
  bool needs_gamma_ = false;  // the colors of the last file differ, and a chunk describes them
  DecodedImage image_;
};

}  // namespace chexbench::image
