// The fast path: PNGs of 8 bits a channel, without palette or interlacing, as gray.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "data/gray_image.hpp"
#include "data/file_bytes.hpp"
#include "data/png_file.hpp"
#include "data/png_inflate.hpp"
#include "data/png_unfilter.hpp"

namespace chexbench::data {

// Inflates and unfilters; colors become gray, alpha is dropped. Keeps its buffers between calls, so: one a thread.
class PngGrayDecoder {
 public:
  explicit PngGrayDecoder(Isa isa = best_isa(), std::unique_ptr<Inflater> inflater = make_inflater())
      : inflater_(std::move(inflater)), unfilter_(isa) {}

  // Decodes a file with `simple` set into image(). Nothing on success, else the reason, without the file's name.
  std::optional<std::string> decode(const PngFile& png);

  // Of the last success; memory belongs to this object, until the next decode.
  const GrayImage& image() const { return image_; }

 private:
  // Both give the first row with an unknown filter, or -1.
  int unfilter(const PngFile& png, const std::uint8_t* rows, ByteBuffer& pixels);
  int unfilter_channels(const PngFile& png, const std::uint8_t* rows);
  PixelRows pixel_rows(ByteBuffer& pixels, const PngFile& png) const;

  std::unique_ptr<Inflater> inflater_;
  Unfilter unfilter_;
  ByteBuffer filtered_;
  ByteBuffer channel_;                // filtered bytes of one of several channels
  std::array<ByteBuffer, 3> pixels_;  // the first: gray
  GrayImage image_;
};

}  // namespace chexbench::data
