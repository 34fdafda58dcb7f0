#include <png.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "image/decode_peers.hpp"

namespace chexbench::image {
namespace {

PeerDecoder libpng() {
  const auto pixels = std::make_shared<std::vector<std::uint8_t>>();
  return {"libpng", PNG_LIBPNG_VER_STRING, [pixels](std::span<const std::byte> bytes) {
            png_image image{};
            image.version = PNG_IMAGE_VERSION;
            if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) std::abort();
            image.format = PNG_FORMAT_GRAY;
            pixels->resize(PNG_IMAGE_SIZE(image));
            const png_color black{};  // the background of an alpha channel
            if (png_image_finish_read(&image, &black, pixels->data(), 0, nullptr) == 0) std::abort();
          }};
}

const AddPeer kLibpng(libpng());

}  // namespace
}  // namespace chexbench::image
