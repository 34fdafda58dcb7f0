// The fast path: PNGs of 8 bits a channel, without palette or interlacing, as gray.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "image/gray_image.hpp"
#include "image/png/png_file.hpp"
#include "image/png/png_inflate.hpp"
#include "image/png/png_unfilter.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {

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
  int unfilter(const PngFile& png, const std::uint8_t* rows, storage::ByteBuffer& pixels);
  int unfilter_channels(const PngFile& png, const std::uint8_t* rows);
  PixelRows pixel_rows(storage::ByteBuffer& pixels, const PngFile& png) const;

  std::unique_ptr<Inflater> inflater_;
  Unfilter unfilter_;
  storage::ByteBuffer filtered_;
  storage::ByteBuffer channel_;                // filtered bytes of one of several channels
  std::array<storage::ByteBuffer, 3> pixels_;  // the first: gray
  GrayImage image_;
};

}  // namespace chexbench::image
