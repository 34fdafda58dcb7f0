// Checks for random images that all implementations agree, and that decoding undoes encoding.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>  // after gtest.h, which it does not include

#include "image/pixels.hpp"
#include "image/png/png_decoder.hpp"
#include "image/png/png_file.hpp"
#include "image/png_builder.hpp"
#include "image/preprocess.hpp"

namespace chexbench::image {
namespace {

using test::pixels_of;

std::vector<std::uint8_t> random_bytes(std::size_t size) {
  return *rc::gen::container<std::vector<std::uint8_t>>(size, rc::gen::arbitrary<std::uint8_t>());
}

RC_GTEST_PROP(DecodeProperty, AllImplementationsAgreeOnAnyRowsAndFilters, ()) {
  const auto width = *rc::gen::inRange(1, 200);
  const auto height = *rc::gen::inRange(1, 100);
  struct Form {
    std::uint8_t color_type, bit_depth;
    int pixel_bytes;
  };
  const auto [color_type, bit_depth, pixel_bytes] =
      *rc::gen::element(Form{0, 8, 1}, Form{2, 8, 3}, Form{4, 8, 2}, Form{6, 8, 4}, Form{0, 16, 2}, Form{4, 16, 4});
  const int row_bytes = width * pixel_bytes + 1;
  std::vector<std::uint8_t> rows = random_bytes(static_cast<std::size_t>(height * row_bytes));
  for (std::size_t y = 0; y < rows.size(); y += static_cast<std::size_t>(row_bytes)) rows[y] %= 5;
  const test::Bytes file = test::build_png({.width = static_cast<std::uint32_t>(width),
                                            .height = static_cast<std::uint32_t>(height),
                                            .bit_depth = bit_depth,
                                            .color_type = color_type,
                                            .rows = rows,
                                            .idat_bytes = *rc::gen::inRange<std::size_t>(1, 5000)});
  PngFile png;
  parse_png(file, "x.png", png);
  RC_ASSERT(png.simple);
  PngDecoder plain(Isa::plain, make_zlib_inflater());
  RC_ASSERT(!plain.decode(png));
  const std::vector<std::uint8_t> expected = pixels_of(plain.image());
  for (const Isa isa : kIsas) {
    if (!supported(isa)) continue;
    PngDecoder fast(isa);
    RC_ASSERT(!fast.decode(png));
    RC_ASSERT(pixels_of(fast.image()) == expected);
  }
}

RC_GTEST_PROP(DecodeProperty, BothInflatersRejectTheSameStreams, ()) {
  std::vector<std::uint8_t> stream = test::deflate(random_bytes(*rc::gen::inRange<std::size_t>(1, 2000)));
  const auto wanted = *rc::gen::inRange<std::size_t>(1, 2000);
  stream[*rc::gen::inRange<std::size_t>(0, stream.size())] ^= *rc::gen::arbitrary<std::uint8_t>();
  const std::vector<std::span<const std::byte>> pieces = {std::as_bytes(std::span(stream))};
  std::vector<std::uint8_t> by_zlib(wanted), by_default(wanted);
  const bool zlib_fails = make_zlib_inflater()->inflate(pieces, by_zlib).has_value();
  RC_ASSERT(make_inflater()->inflate(pieces, by_default).has_value() == zlib_fails);
  RC_ASSERT(zlib_fails || by_zlib == by_default);
}

RC_GTEST_PROP(PreprocessProperty, AllImplementationsAgreeOnAnySizes, ()) {
  const auto width = *rc::gen::inRange(1, 400);
  const auto height = *rc::gen::inRange(1, 60);
  const std::vector<std::uint8_t> pixels = random_bytes(static_cast<std::size_t>(width * height));
  const DecodedImage image{pixels.data(), width, height, static_cast<std::size_t>(width)};
  const BatchShape shape{1, *rc::gen::inRange(1, 80), *rc::gen::inRange(1, 80),
                         *rc::gen::element(Deliver::f32, Deliver::u8)};
  const auto method = *rc::gen::element(spec::ResizeMethod::bilinear, spec::ResizeMethod::area);
  const bool flip = *rc::gen::arbitrary<bool>();
  std::vector<std::byte> expected(shape.bytes()), actual(shape.bytes());
  make_preprocessor(method, shape, Isa::plain)->run(image, flip, expected.data());
  for (const Isa isa : kIsas) {
    if (!supported(isa)) continue;
    make_preprocessor(method, shape, isa)->run(image, flip, actual.data());
    RC_ASSERT(actual == expected);
  }
}

}  // namespace
}  // namespace chexbench::image
