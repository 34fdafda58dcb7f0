#include "image/decode_peers.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <opencv2/core/version.hpp>
#include <opencv2/imgcodecs.hpp>

#ifdef CHEXBENCH_HAS_PNG
#include <png.h>
#endif
#ifdef CHEXBENCH_HAS_SPNG
#include <spng.h>
#endif
#ifdef CHEXBENCH_HAS_BLEND2D
#include <blend2d/blend2d.h>
#endif

namespace chexbench::image {
namespace {

PeerDecoder opencv() {
  const auto gray = std::make_shared<cv::Mat>();
  return {"opencv", CV_VERSION, [gray](std::span<const std::byte> bytes) {
            const cv::Mat file(1, static_cast<int>(bytes.size()), CV_8UC1, const_cast<std::byte*>(bytes.data()));
            cv::imdecode(file, cv::IMREAD_GRAYSCALE, gray.get());
            if (gray->empty()) std::abort();
          }};
}

#ifdef CHEXBENCH_HAS_PNG
PeerDecoder libpng() {
  const auto pixels = std::make_shared<std::vector<std::uint8_t>>();
  return {"libpng", PNG_LIBPNG_VER_STRING, [pixels](std::span<const std::byte> bytes) {
            png_image image{};
            image.version = PNG_IMAGE_VERSION;
            if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) std::abort();
            image.format = PNG_FORMAT_GRAY;
            pixels->resize(PNG_IMAGE_SIZE(image));
            const png_color black{};  // what lies behind an alpha channel
            if (png_image_finish_read(&image, &black, pixels->data(), 0, nullptr) == 0) std::abort();
          }};
}
#endif

#ifdef CHEXBENCH_HAS_SPNG
PeerDecoder libspng() {
  const auto pixels = std::make_shared<std::vector<std::uint8_t>>();
  return {"libspng", spng_version_string(), [pixels](std::span<const std::byte> bytes) {
            const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(0), &spng_ctx_free);
            std::size_t size = 0;
            spng_ihdr header{};
            if (spng_set_png_buffer(context.get(), bytes.data(), bytes.size()) != 0 ||
                spng_get_ihdr(context.get(), &header) != 0)
              std::abort();
            // libspng makes gray of gray alone; other files come as they are.
            const int format = header.color_type == SPNG_COLOR_TYPE_GRAYSCALE ? SPNG_FMT_G8 : SPNG_FMT_PNG;
            if (spng_decoded_image_size(context.get(), format, &size) != 0) std::abort();
            pixels->resize(size);
            if (spng_decode_image(context.get(), pixels->data(), size, format, 0) != 0) std::abort();
          }};
}
#endif

#ifdef CHEXBENCH_HAS_BLEND2D
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
#endif

}  // namespace

std::vector<PeerDecoder> peer_decoders() {
  std::vector<PeerDecoder> decoders;
  decoders.push_back(opencv());
#ifdef CHEXBENCH_HAS_PNG
  decoders.push_back(libpng());
#endif
#ifdef CHEXBENCH_HAS_SPNG
  decoders.push_back(libspng());
#endif
#ifdef CHEXBENCH_HAS_BLEND2D
  decoders.push_back(blend2d());
#endif
  return decoders;
}

}  // namespace chexbench::image
