// PNGs: the fast path, on every instruction set and by both inflaters, against each other and against OpenCV.
#include "fuzz/fuzz.hpp"
#include "fuzz/pixels.hpp"
#include "fuzz/png_repair.hpp"
#include "image/decoder.hpp"
#include "image/png/png_decoder.hpp"
#include "image/png/png_file.hpp"

namespace chexbench::fuzz {
namespace {

// Larger images show nothing new, and decoding them six times takes long.
constexpr std::int64_t kMostPixels = 1 << 20;

std::vector<image::PngDecoder> twins() {
  std::vector<image::PngDecoder> decoders;
  for (const image::Isa isa : image::kIsas) {
    if (image::supported(isa)) decoders.emplace_back(isa);
  }
  decoders.emplace_back(image::Isa::plain, image::make_zlib_inflater());
  return decoders;
}

struct BothDecoders {
  explicit BothDecoders(spec::Color color)
      : fast(image::make_decoder(spec::DecoderKind::fast, {}, color)),
        general(image::make_decoder(spec::DecoderKind::opencv, {}, color)) {}
  std::unique_ptr<image::Decoder> fast, general;
};

// All implementations must accept the same files and give the same pixels.
void compare_twins(const image::PngFile& png) {
  static std::vector<image::PngDecoder> decoders = twins();
  std::optional<Pixels> first;
  for (image::PngDecoder& decoder : decoders) {
    const bool is_decoded = !decoder.decode(png).has_value();
    if (&decoder == &decoders.front() && is_decoded) first = copy_of(decoder.image());
    require(is_decoded == first.has_value(), "one instruction set or inflater decodes a PNG that another refuses");
    if (first) require(copy_of(decoder.image()) == *first, "instruction sets or inflaters differ in a PNG's pixels");
  }
}

}  // namespace

FUZZ_TARGET(png,
            "image/decoder.cpp image/png/png_file.cpp image/png/png_decoder.cpp "
            "image/png/png_unfilter.cpp image/png/png_inflate_isal.cpp",
            mutate_png) {
  if (!image::is_png(bytes)) return;
  image::PngFile png;
  if (!accepted({ExitCode::data}, [&] { return image::parse_png(bytes, "input", png), true; })) return;
  if (std::int64_t{png.width} * png.height > kMostPixels) return;
  if (png.simple) compare_twins(png);
  for (const spec::Color color : {spec::Color::gray, spec::Color::rgb}) {
    static const BothDecoders to_gray(spec::Color::gray), to_rgb(spec::Color::rgb);
    const BothDecoders& decoders = color == spec::Color::gray ? to_gray : to_rgb;
    const auto decode = [&](image::Decoder& decoder) {
      return accepted({ExitCode::data}, [&] { return copy_of(decoder.decode(bytes, "input"), color); });
    };
    const std::optional<Pixels> by_fast = decode(*decoders.fast);
    require(by_fast == decode(*decoders.general),
            "the fast path and OpenCV differ in what they accept or in the pixels");
    if (by_fast) require(by_fast->width == png.width && by_fast->height == png.height, "a PNG changes its size");
  }
}

}  // namespace chexbench::fuzz
