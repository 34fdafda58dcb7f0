// OpenCV's decoders, loaded at first need.
#pragma once

#include <memory>

#include "image/gray_image.hpp"

namespace chexbench::image {

// Decodes whatever OpenCV reads. It checks nothing by itself: OpenCV takes truncated files for whole ones.
class OpencvDecoder {
 public:
  virtual ~OpencvDecoder() = default;
  // Memory of the result belongs to the decoder, until its next call.
  // @throws DataError with the reason alone: the caller knows the file's name
  virtual GrayImage decode(std::span<const std::byte> bytes) = 0;
};

// One a thread. The shared library chexbench_opencv.so is looked for in $CHEXBENCH_PLUGIN_DIR if that is set (and
// nowhere else then), else beside the executable and in ../lib/chexbench from there.
// @throws DataError where it cannot be loaded, or where this build has no OpenCV
std::unique_ptr<OpencvDecoder> make_opencv_decoder();

}  // namespace chexbench::image
