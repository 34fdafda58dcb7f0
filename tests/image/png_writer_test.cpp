#include "image/png/png_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <set>

#include "core/scratch.hpp"
#include "dataset/make/synth.hpp"
#include "image/decoder.hpp"
#include "image/pixels.hpp"
#include "image/png/png_file.hpp"
#include "image/png_builder.hpp"

namespace chexbench::image {
namespace {

constexpr int kPngSide = 200;

class PngWriterTest : public testing::TestWithParam<PngStyle> {
 protected:
  PngWriterTest() {
    dataset::render_chest({.patient_seed = 1, .image_seed = 2, .labels = 0x11}, kPngSide, pixels_);
    encoded_ = writer_.encode(pixels_, kPngSide, GetParam());
    parse_png(encoded_, "image.png", png_);
  }
  // The filter types of the rows.
  std::set<int> filters() const {
    std::vector<Bytef> joined;
    for (const auto piece : png_.image_data) {
      const auto* const begin = reinterpret_cast<const Bytef*>(piece.data());
      joined.insert(joined.end(), begin, begin + piece.size());
    }
    const std::size_t row = kPngSide * (png_.color_type == 6 ? 4 : 1) + 1;
    std::vector<Bytef> raw(row * kPngSide);
    uLongf size = raw.size();
    EXPECT_EQ(::uncompress(raw.data(), &size, joined.data(), joined.size()), Z_OK);
    EXPECT_EQ(size, raw.size());
    std::set<int> found;
    for (std::size_t y = 0; y < kPngSide; ++y) found.insert(raw[y * row]);
    return found;
  }
  std::vector<std::uint8_t> pixels_;
  PngWriter writer_;
  std::span<const std::byte> encoded_;
  PngFile png_;
};

TEST_P(PngWriterTest, KeepsEveryPixel) {
  const auto decoder = make_decoder(spec::DecoderKind::fast);
  const DecodedImage image = decoder->decode(encoded_, "image.png");
  ASSERT_EQ(image.width, kPngSide);
  ASSERT_EQ(image.height, kPngSide);
  for (int y = 0; y < kPngSide; ++y) {
    for (int x = 0; x < kPngSide; ++x) {
      ASSERT_EQ(image.pixels[static_cast<std::size_t>(y) * image.stride + x],
                pixels_[static_cast<std::size_t>(y) * kPngSide + x])
          << x << ' ' << y;
    }
  }
}

TEST(PngWriter, WritesThreeChannels) {
  constexpr int kSide = 16;
  std::vector<std::uint8_t> rgb;
  for (int i = 0; i < kSide * kSide; ++i) rgb.insert(rgb.end(), {static_cast<std::uint8_t>(i), 0, 255});
  PngWriter writer;
  PngFile png;
  const std::span<const std::byte> encoded = writer.encode_rgb(rgb, kSide);
  parse_png(encoded, "image.png", png);
  EXPECT_EQ(png.color_type, 2);
  const DecodedImage image = make_decoder(spec::DecoderKind::fast)->decode(encoded, "image.png");
  EXPECT_EQ(image.width, kSide);
}

TEST_P(PngWriterTest, TakesAnyWidthAndHeight) {
  const std::vector<std::uint8_t> pixels = test::ramp(7, 3);
  const auto file = writer_.encode(pixels, 7, 3, GetParam());
  const auto decoder = make_decoder(spec::DecoderKind::opencv);
  const DecodedImage image = decoder->decode(file, "x.png");
  EXPECT_EQ(image.width, 7);
  EXPECT_EQ(test::pixels_of(image), pixels);
}

TEST_P(PngWriterTest, SplitsTheImageIntoChunksOf8KiB) {
  for (std::size_t i = 0; i + 1 < png_.image_data.size(); ++i) EXPECT_EQ(png_.image_data[i].size(), 8192u);
  EXPECT_GT(png_.image_data.size(), 1u);
}

TEST_P(PngWriterTest, FiltersRowsAsItsStyleDoes) {
  if (GetParam() == PngStyle::resaved) {
    EXPECT_EQ(filters(), std::set<int>{1});
  } else {
    EXPECT_FALSE(filters().contains(0));
    EXPECT_GT(filters().size(), 1u);
  }
}

TEST_P(PngWriterTest, NamesTheCompressionLevelInItsHeader) {
  const auto second = static_cast<int>(png_.image_data[0][1]);
  EXPECT_EQ(static_cast<int>(png_.image_data[0][0]), 0x78);
  EXPECT_EQ(second, GetParam() == PngStyle::resaved ? 0x01 : 0x9c);
}

TEST_P(PngWriterTest, GivesTheSameBytesAgain) {
  const std::vector<std::byte> first(encoded_.begin(), encoded_.end());
  std::vector<std::uint8_t> other(kPngSide * kPngSide, 77);
  writer_.encode(other, kPngSide, GetParam());
  const std::span<const std::byte> again = writer_.encode(pixels_, kPngSide, GetParam());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), again.begin(), again.end()));
}

std::string style_name(const testing::TestParamInfo<PngStyle>& info) {
  constexpr const char* kNames[] = {"Published", "Resaved", "Rgba"};
  return kNames[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Styles, PngWriterTest, testing::Values(PngStyle::published, PngStyle::resaved, PngStyle::rgba),
                         style_name);

}  // namespace
}  // namespace chexbench::image
