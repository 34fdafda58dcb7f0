// The fast path: 8-bit gray PNGs without interlacing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "data/decoder.hpp"
#include "data/file_bytes.hpp"
#include "data/png_file.hpp"
#include "data/png_inflate.hpp"
#include "data/png_unfilter.hpp"

namespace chexbench::data {

// Inflates and unfilters. Keeps its buffers between calls, so: one a thread.
class PngGrayDecoder {
 public:
  explicit PngGrayDecoder(Isa isa = best_isa(), std::unique_ptr<Inflater> inflater = make_inflater())
      : inflater_(std::move(inflater)), unfilter_(isa) {}

  // Decodes a file with `simple_gray` set into image(). Nothing on success, else the reason, without the file's name.
  std::optional<std::string> decode(const PngFile& png);

  // Of the last success; memory belongs to this object, until the next decode.
  const GrayImage& image() const { return image_; }

 private:
  std::unique_ptr<Inflater> inflater_;
  Unfilter unfilter_;
  ByteBuffer filtered_;
  ByteBuffer pixels_;
  GrayImage image_;
};

}  // namespace chexbench::data
