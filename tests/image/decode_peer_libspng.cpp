#include <spng.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "image/decode_peers.hpp"

namespace chexbench::image {
namespace {

PeerDecoder libspng() {
  const auto pixels = std::make_shared<std::vector<std::uint8_t>>();
  return {"libspng", spng_version_string(), [pixels](std::span<const std::byte> bytes) {
            const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(0), &spng_ctx_free);
            std::size_t size = 0;
            spng_ihdr header{};
            if (spng_set_png_buffer(context.get(), bytes.data(), bytes.size()) != 0 ||
                spng_get_ihdr(context.get(), &header) != 0)
              std::abort();
            // libspng decodes only gray to gray; other files keep their channels.
            const int format = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE ? SPNG_FMT_G8 : SPNG_FMT_PNG;
            if (spng_decoded_image_size(context.get(), format, &size) != 0) std::abort();
            pixels->resize(size);
            if (spng_decode_image(context.get(), pixels->data(), size, format, 0) != 0) std::abort();
          }};
}

const AddPeer kLibspng(libspng());

}  // namespace
}  // namespace chexbench::image
