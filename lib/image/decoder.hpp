// Decodes the bytes of an image file, whatever its format, to 8-bit gray.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "image/gray_image.hpp"
#include "spec/experiment.hpp"

namespace chexbench::image {

// Decodes images to 8-bit gray (RGB(A) and 16-bit are converted as OpenCV's IMREAD_GRAYSCALE does). Keeps buffers
// between calls, so: one decoder a thread.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // `name` is for messages. The result is valid until the next call.
  // @throws DataError naming the file, the offset where that is known, and the reason
  virtual GrayImage decode(std::span<const std::byte> bytes, const std::string& name) = 0;
};

// fast: own path for PNGs of 8 bits (gray or RGB, with or without alpha) that are not interlaced, libjpeg-turbo for
// JPEGs (jpeg_gray.hpp; only these heed `least`), everything else handed to OpenCV, which decides. opencv: OpenCV for
// all. OpenCV is loaded at the first image that needs it. @throws DataError where that is missing.
std::unique_ptr<Decoder> make_decoder(spec::DecoderKind kind, const LeastSize& least = {});

}  // namespace chexbench::image
