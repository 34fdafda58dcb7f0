#include <blend2d/blend2d.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "image/decode_peers.hpp"

namespace chexbench::image {
namespace {

// Its images have no gray: one of 8 bits becomes 32 bits a pixel.
PeerDecoder blend2d() {
  const auto codec = std::make_shared<BLImageCodec>();
  if (codec->find_by_name("PNG") != BL_SUCCESS) std::abort();
  const auto image = std::make_shared<BLImage>();
  BLRuntimeBuildInfo build;
  BLRuntime::query_build_info(&build);
  return {
      "blend2d",
      std::to_string(build.major_version) + "." + std::to_string(build.minor_version) + "." +
          std::to_string(build.patch_version),
      [codec, image](std::span<const std::byte> bytes) {
        BLImageDecoder decoder;
        if (codec->create_decoder(&decoder) != BL_SUCCESS ||
            decoder.read_frame(*image, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()) != BL_SUCCESS)
          std::abort();
      }};
}

const AddPeer kBlend2d(blend2d());

}  // namespace
}  // namespace chexbench::image
