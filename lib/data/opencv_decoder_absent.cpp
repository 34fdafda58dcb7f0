#include "core/errors.hpp"
#include "data/opencv_decoder.hpp"

namespace chexbench::data {

std::unique_ptr<OpencvDecoder> make_opencv_decoder() {
  throw DataError(
      "it needs OpenCV, which this build lacks: install libopencv-dev and build again "
      "(without it only 8-bit gray, non-interlaced PNGs can be decoded)");
}

}  // namespace chexbench::data
