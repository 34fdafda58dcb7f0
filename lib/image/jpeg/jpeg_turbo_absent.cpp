#include "core/errors.hpp"
#include "image/jpeg/jpeg_turbo.hpp"

namespace chexbench::image {

std::unique_ptr<JpegDecoder> make_jpeg_decoder(spec::Color /*color*/) { return nullptr; }

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t>, int, int, int) {
  throw DataError("this build writes no JPEGs: install libjpeg-turbo's headers and build again");
}

}  // namespace chexbench::image
