#include "image/jpeg/jpeg_decoder.hpp"

namespace chexbench::image {

std::unique_ptr<JpegDecoder> make_jpeg_decoder(spec::Color /*color*/) { return nullptr; }

}  // namespace chexbench::image
