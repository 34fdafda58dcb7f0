#include "core/errors.hpp"
#include "image/opencv_decoder.hpp"

namespace chexbench::image {

std::unique_ptr<OpencvDecoder> make_opencv_decoder(spec::Color /*color*/) {
  throw DataError(
      "it needs OpenCV, which this build, like every wheel, lacks: install libopencv-imgcodecs-dev and build chexbench "
      "(without it only JPEGs and PNGs of 8 bits, up to 64 MiB, without palette, gamma and interlacing, can be "
      "decoded)");
}

std::optional<std::string> loaded_opencv_version() { return std::nullopt; }

}  // namespace chexbench::image
