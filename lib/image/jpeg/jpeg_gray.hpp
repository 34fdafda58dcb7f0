// The fast path for JPEGs: libjpeg-turbo, to gray, at a fraction of the size where less is needed.
#pragma once

#include <memory>

#include "image/gray_image.hpp"
#include "image/jpeg/jpeg_file.hpp"

namespace chexbench::image {

// Takes JPEGs of one and three components. Keeps its state and memory between calls, so: one a thread.
class JpegGrayDecoder {
 public:
  virtual ~JpegGrayDecoder() = default;
  // The image by the strongest of the scales 1/8, 1/4, 1/2 and 1 that leaves at least `least` in both directions; with
  // an empty `least` all pixels, which are OpenCV's. Memory belongs to this object, until the next call.
  // @throws DataError with the reason alone: what libjpeg cannot decode, and damage that it would only warn of
  virtual GrayImage decode(std::span<const std::byte> bytes, const JpegFile& file, const LeastSize& least) = 0;
};

// Null where this build has no libjpeg-turbo.
std::unique_ptr<JpegGrayDecoder> make_jpeg_gray_decoder();

// 8, 4, 2 or 1.
int jpeg_scale_denominator(const JpegFile& file, const LeastSize& least);

}  // namespace chexbench::image
