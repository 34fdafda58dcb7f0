#include "image/jpeg/jpeg_gray.hpp"

namespace chexbench::image {

std::unique_ptr<JpegGrayDecoder> make_jpeg_gray_decoder() { return nullptr; }

}  // namespace chexbench::image
