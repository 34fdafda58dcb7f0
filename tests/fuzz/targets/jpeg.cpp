// JPEGs: libjpeg-turbo at full size must give the same pixels as OpenCV, and every scale has the promised size.
#include <algorithm>

#include "fuzz/fuzz.hpp"
#include "fuzz/pixels.hpp"
#include "image/decoder.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "image/jpeg/jpeg_turbo.hpp"

namespace chexbench::fuzz {
namespace {

constexpr std::int64_t kMostJpegPixels = 1 << 20;
constexpr image::LeastSize kLeast[] = {{}, {.width = 16, .height = 16}, {.width = 100, .height = 3}};

struct JpegDecoders {
  image::LeastSize least;
  spec::Color color = spec::Color::gray;
  std::unique_ptr<image::Decoder> fast, general;
};

std::vector<JpegDecoders> all_decoders() {
  std::vector<JpegDecoders> decoders;
  for (const spec::Color color : {spec::Color::gray, spec::Color::rgb}) {
    for (const image::LeastSize& least : kLeast) {
      decoders.push_back({least, color, image::make_decoder(spec::DecoderKind::fast, least, color),
                          image::make_decoder(spec::DecoderKind::opencv, {}, color)});
    }
  }
  return decoders;
}

}  // namespace

FUZZ_TARGET(jpeg, "image/decoder.cpp image/jpeg/jpeg_file.cpp image/jpeg/jpeg_turbo.cpp") {
  static const std::vector<JpegDecoders> decoders = all_decoders();
  Input input(bytes);
  const JpegDecoders& chosen = decoders[input.byte() % decoders.size()];
  const Bytes file = input.rest();
  if (!image::is_jpeg(file)) return;
  const auto parsed = accepted({ExitCode::data}, [&] { return image::parse_jpeg(file, "input"); });
  if (!parsed || std::int64_t{parsed->width} * parsed->height > kMostJpegPixels) return;
  const auto decode = [&](image::Decoder& decoder) {
    return accepted({ExitCode::data}, [&] { return copy_of(decoder.decode(file, "input"), chosen.color); });
  };
  const std::optional<Pixels> decoded = decode(*chosen.fast);
  const auto fresh = image::make_decoder(spec::DecoderKind::fast, chosen.least, chosen.color);
  require(decoded == decode(*fresh), "what a JPEG decodes to depends on the image before it");
  if (!decoded) return;
  const bool is_left_to_opencv = parsed->components != 1 && parsed->components != 3;  // which does not scale
  const int by = is_left_to_opencv ? 1 : image::jpeg_scale_denominator(*parsed, chosen.least);
  require(decoded->width == (parsed->width + by - 1) / by && decoded->height == (parsed->height + by - 1) / by,
          "a JPEG has another size than its header says");
  if (by > 1) return;
  require(decoded == decode(*chosen.general), "libjpeg-turbo and OpenCV differ in the pixels of a JPEG");
}

}  // namespace chexbench::fuzz
