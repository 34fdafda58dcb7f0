// PNGs: the fast path, on every instruction set and by both inflaters, against each other and against OpenCV.
#include "fuzz/fuzz.hpp"
#include "fuzz/pixels.hpp"
#include "fuzz/png_repair.hpp"
#include "image/decoder.hpp"
#include "image/png/png_file.hpp"
#include "image/png/png_gray.hpp"

namespace chexbench::fuzz {
namespace {

// Larger images say nothing new, and decoding them six times takes long.
constexpr std::int64_t kMostPixels = 1 << 20;

std::vector<image::PngGrayDecoder> twins() {
  std::vector<image::PngGrayDecoder> decoders;
  for (const image::Isa isa : image::kIsas) {
    if (image::supported(isa)) decoders.emplace_back(isa);
  }
  decoders.emplace_back(image::Isa::plain, image::make_zlib_inflater());
  return decoders;
}

// All implementations must accept the same files and give the same pixels.
void compare_twins(const image::PngFile& png) {
  static std::vector<image::PngGrayDecoder> decoders = twins();
  std::optional<Pixels> first;
  for (image::PngGrayDecoder& decoder : decoders) {
    const bool is_decoded = !decoder.decode(png).has_value();
    if (&decoder == &decoders.front() && is_decoded) first = copy_of(decoder.image());
    require(is_decoded == first.has_value(), "one instruction set or inflater decodes a PNG that another refuses");
    if (first) require(copy_of(decoder.image()) == *first, "instruction sets or inflaters differ in a PNG's pixels");
  }
}

}  // namespace

FUZZ_TARGET(png,
            "image/decoder.cpp image/png/png_file.cpp image/png/png_gray.cpp image/png/png_channels.cpp "
            "image/png/png_unfilter.cpp image/png/png_inflate_isal.cpp",
            mutate_png) {
  static const auto fast = image::make_decoder(spec::DecoderKind::fast);
  static const auto general = image::make_decoder(spec::DecoderKind::opencv);
  if (!image::is_png(bytes)) return;
  image::PngFile png;
  if (!accepted({ExitCode::data}, [&] { return image::parse_png(bytes, "input", png), true; })) return;
  if (std::int64_t{png.width} * png.height > kMostPixels) return;
  if (png.simple) compare_twins(png);
  const auto decode = [&bytes](image::Decoder& decoder) {
    return accepted({ExitCode::data}, [&] { return copy_of(decoder.decode(bytes, "input")); });
  };
  const std::optional<Pixels> by_fast = decode(*fast);
  require(by_fast == decode(*general), "the fast path and OpenCV differ in what they accept or in the pixels");
  if (by_fast) require(by_fast->width == png.width && by_fast->height == png.height, "a PNG changes its size");
}

}  // namespace chexbench::fuzz
