// Each decoder on whole files: the kinds of PNG, other formats, and how damage is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/errors.hpp"
#include "image/decoder.hpp"
#include "image/pixels.hpp"
#include "image/png_builder.hpp"

namespace chexbench::image {
namespace {

using test::build_png;
using test::Bytes;
using test::gray_png;
using test::pixels_of;
using test::PngRecipe;
using test::unfiltered_rows;
using testing::AllOf;
using testing::HasSubstr;

class DecoderTest : public testing::TestWithParam<spec::DecoderKind> {
 protected:
  std::vector<std::uint8_t> decode(const Bytes& file) { return pixels_of(decoder_->decode(file, "x.png")); }

  // Returns the message of the DataError that decoding `file` throws.
  std::string error_of(const Bytes& file) {
    try {
      decode(file);
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  }

  std::unique_ptr<Decoder> decoder_ = make_decoder(GetParam());
};

TEST_P(DecoderTest, DecodesGrayOfAnyShape) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {1u, 300u}, {300u, 1u}, {37u, 23u}, {1024u, 31u}}) {
    EXPECT_EQ(decode(gray_png(width, height)), test::ramp(width, height)) << width << "x" << height;
  }
}

TEST_P(DecoderTest, DecodesImageDataCutIntoManyChunks) {
  const PngRecipe recipe{.width = 64, .height = 64, .rows = unfiltered_rows(test::ramp(64, 64), 64), .idat_bytes = 7};
  EXPECT_EQ(decode(build_png(recipe)), test::ramp(64, 64));
}

TEST_P(DecoderTest, TakesColorsWithEqualChannelsForGray) {
  std::vector<std::uint8_t> rgb, rgba, gray_alpha;
  for (const std::uint8_t v : test::ramp(20, 10)) {
    rgb.insert(rgb.end(), {v, v, v});
    rgba.insert(rgba.end(), {v, v, v, 255});
    gray_alpha.insert(gray_alpha.end(), {v, 255});
  }
  const auto file = [](std::uint8_t color_type, const std::vector<std::uint8_t>& pixels) {
    return build_png(
        {.width = 20, .height = 10, .color_type = color_type, .rows = unfiltered_rows(pixels, pixels.size() / 10)});
  };
  EXPECT_EQ(decode(file(2, rgb)), test::ramp(20, 10));
  EXPECT_EQ(decode(file(6, rgba)), test::ramp(20, 10));
  EXPECT_EQ(decode(file(4, gray_alpha)), test::ramp(20, 10));
}

TEST_P(DecoderTest, WeighsColorsAsOpencv) {
  const std::vector<std::uint8_t> rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 200, 100, 50};
  const PngRecipe recipe{.width = 5, .height = 1, .color_type = 2, .rows = unfiltered_rows(rgb, rgb.size())};
  EXPECT_EQ(decode(build_png(recipe)), (std::vector<std::uint8_t>{76, 149, 29, 1, 124}));
}

// value * 255 / 65535 in floating point, rounded: equal to numpy's, and no value is halfway.
std::uint8_t in_8_bits(double value) { return static_cast<std::uint8_t>(std::lround(value * 255 / 65535)); }

// Every value, in gray and in gray with alpha, which is dropped.
TEST_P(DecoderTest, Scales16BitGray) {
  for (const bool has_alpha : {false, true}) {
    std::vector<std::uint8_t> pixels, expected;
    for (int value = 0; value < 65536; ++value) {
      pixels.insert(pixels.end(), {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)});
      if (has_alpha) pixels.insert(pixels.end(), {static_cast<std::uint8_t>(value), 0x12});
      expected.push_back(in_8_bits(value));
    }
    const PngRecipe recipe{.width = 256,
                           .height = 256,
                           .bit_depth = 16,
                           .color_type = static_cast<std::uint8_t>(has_alpha ? 4 : 0),
                           .rows = unfiltered_rows(pixels, pixels.size() / 256)};
    EXPECT_EQ(decode(build_png(recipe)), expected) << has_alpha;
  }
}

// libpng mixes colors of 16 bits to gray of 16 bits, rounded, and only that is scaled.
TEST_P(DecoderTest, Scales16BitColors) {
  std::vector<std::uint8_t> pixels, expected;
  for (std::uint32_t i = 0; i < 4096; ++i) {
    const std::uint32_t colors[] = {i * 40503 % 65536, i * 9973 % 65536, i * 30011 % 65536};
    for (const std::uint32_t color : colors)
      pixels.insert(pixels.end(), {static_cast<std::uint8_t>(color >> 8), static_cast<std::uint8_t>(color)});
    expected.push_back(in_8_bits((9797 * colors[0] + 19234 * colors[1] + 3737 * colors[2] + 16384) >> 15));
  }
  const PngRecipe recipe{
      .width = 64, .height = 64, .bit_depth = 16, .color_type = 2, .rows = unfiltered_rows(pixels, 64 * 6)};
  EXPECT_EQ(decode(build_png(recipe)), expected);
}

// Both ways of reading must scale alike: interlaced files are always OpenCV's.
TEST_P(DecoderTest, ScalesInterlaced16BitGray) {
  const PngRecipe recipe{.width = 1, .height = 1, .bit_depth = 16, .interlace = 1, .rows = {0, 0x7f, 0xff}};
  EXPECT_EQ(decode(build_png(recipe)), std::vector<std::uint8_t>{127});
  EXPECT_EQ(decode(build_png({.width = 1, .height = 1, .bit_depth = 16, .interlace = 1, .rows = {0, 0x80, 0xff}})),
            std::vector<std::uint8_t>{128});
}

TEST_P(DecoderTest, ExpandsFewerThan8Bits) {
  const PngRecipe recipe{.width = 8, .height = 1, .bit_depth = 1, .rows = {0, 0b10110001}};
  EXPECT_EQ(decode(build_png(recipe)), (std::vector<std::uint8_t>{255, 0, 255, 255, 0, 0, 0, 255}));
}

TEST_P(DecoderTest, LooksUpPalettes) {
  const PngRecipe recipe{
      .width = 3, .height = 1, .color_type = 3, .palette = {9, 9, 9, 200, 200, 200}, .rows = {0, 1, 0, 1}};
  EXPECT_EQ(decode(build_png(recipe)), (std::vector<std::uint8_t>{200, 9, 200}));
}

// An image of 4x2 pixels, interlaced with Adam7: pass 1 has (0,0), pass 4 (2,0), pass 6 (1,0) and (3,0), pass 7 row 1.
TEST_P(DecoderTest, DecodesInterlacedImages) {
  const PngRecipe recipe{.width = 4, .height = 2, .interlace = 1, .rows = {0, 10, 0, 30, 0, 20, 40, 0, 50, 60, 70, 80}};
  EXPECT_EQ(decode(build_png(recipe)), (std::vector<std::uint8_t>{10, 20, 30, 40, 50, 60, 70, 80}));
}

// A JPEG of 16x8 pixels, all 91. Bytes 94 to 97 are its height and width.
constexpr std::string_view kFlatGray(
    "\xff\xd8\xff\xe0\x00\x10\x4a\x46\x49\x46\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xdb\x00\x43\x00\x1b\x12"
    "\x14\x17\x14\x11\x1b\x17\x16\x17\x1e\x1c\x1b\x20\x28\x42\x2b\x28\x25\x25\x28\x51\x3a\x3d\x30\x42\x60\x55\x65"
    "\x64\x5f\x55\x5d\x5b\x6a\x78\x99\x81\x6a\x71\x90\x73\x5b\x5d\x85\xb5\x86\x90\x9e\xa3\xab\xad\xab\x67\x80\xbc"
    "\xc9\xba\xa6\xc7\x99\xa8\xab\xa4\xff\xc0\x00\x0b\x08\x00\x08\x00\x10\x01\x01\x11\x00\xff\xc4\x00\x15\x00\x01"
    "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\xff\xc4\x00\x14\x10\x01\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x90\x7f\xff\xd9",
    161);

Bytes flat_jpeg() {
  const auto* const begin = reinterpret_cast<const std::byte*>(kFlatGray.data());
  return {begin, begin + kFlatGray.size()};
}

TEST_P(DecoderTest, DecodesAJpegNamedPng) { EXPECT_EQ(decode(flat_jpeg()), std::vector<std::uint8_t>(128, 91)); }

TEST_P(DecoderTest, RefusesAHugeJpegByItsHeader) {
  for (const std::size_t side : {94u, 96u}) {
    Bytes file = flat_jpeg();
    file[side] = std::byte{20000 >> 8};
    EXPECT_THAT(error_of(file), AllOf(HasSubstr("x.png"), HasSubstr("more than 16384 a side"))) << side;
  }
}

TEST_P(DecoderTest, TellsAnEmptyFile) { EXPECT_THAT(error_of({}), AllOf(HasSubstr("x.png"), HasSubstr("0 bytes"))); }

TEST_P(DecoderTest, TellsAFileThatIsNoImage) {
  EXPECT_THAT(error_of(Bytes(1000, std::byte{'?'})), AllOf(HasSubstr("x.png"), HasSubstr("not a PNG")));
}

TEST_P(DecoderTest, RefusesEveryTruncation) {
  const Bytes whole =
      build_png({.width = 16, .height = 16, .rows = unfiltered_rows(test::ramp(16, 16), 16), .idat_bytes = 20});
  EXPECT_EQ(error_of(whole), "no error");
  for (std::size_t size = 8; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT(error_of(cut), AllOf(HasSubstr("x.png: byte "), HasSubstr("truncated PNG"))) << size << " bytes";
  }
}

TEST_P(DecoderTest, NamesTheChunkAndOffsetOfAWrongCrc) {
  Bytes file = gray_png(16, 16);
  file[8 + 25 + 10] ^= std::byte{1};  // in IDAT, which begins at byte 33
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("x.png: byte 33"), HasSubstr("wrong CRC"), HasSubstr("IDAT")));
}

TEST_P(DecoderTest, RefusesPngsThatCannotBeRight) {
  const Bytes whole = gray_png(4, 4);
  Bytes no_data(whole.begin(), whole.begin() + 33);
  test::append_chunk(no_data, "IEND", {});
  std::vector<std::uint8_t> broken = test::deflate(unfiltered_rows(test::ramp(64, 64), 64));
  broken[2] = 0xff;  // block type 3, which does not exist
  std::vector<std::uint8_t> filtered = unfiltered_rows(test::ramp(8, 8), 8);
  filtered[9 * 5] = 7;  // an unknown filter
  const std::pair<Bytes, std::string> refused[] = {
      {build_png({.width = 60000, .height = 60000, .image_data = {1}}), "60000x60000 pixels: more than 16384"},
      {build_png({.width = 8192, .height = 8192, .rows = std::vector<std::uint8_t>(500)}),
       "8192x8192 pixels with only"},
      {build_png({.width = 0, .height = 5, .rows = {0}}), "0x5"},
      {no_data, "no IDAT"},
      {build_png({.width = 64, .height = 64, .image_data = broken}), "x.png: byte 41"},
      {build_png({.width = 64, .height = 64, .rows = unfiltered_rows(test::ramp(64, 63), 64)}), "x.png: byte 41"},
      {build_png({.width = 8, .height = 8, .rows = filtered}), "x.png: byte 41"}};
  for (const auto& [file, reason] : refused) EXPECT_THAT(error_of(file), HasSubstr(reason));
}

TEST_P(DecoderTest, GoesOnAfterADamagedFile) {
  EXPECT_NE(error_of(Bytes(100)), "no error");
  EXPECT_EQ(decode(gray_png(50, 40)), test::ramp(50, 40));
}

// OpenCV 4.6 returns the last image again if it does not know the format of a file.
TEST_P(DecoderTest, RefusesAFileThatIsNoImageAfterAnImageOfOpencv) {
  const PngRecipe color16{
      .width = 20, .height = 10, .bit_depth = 16, .color_type = 2, .rows = std::vector<std::uint8_t>(1210)};
  EXPECT_EQ(decode(build_png(color16)), std::vector<std::uint8_t>(200));
  EXPECT_THAT(error_of(Bytes(1000, std::byte{'?'})), HasSubstr("not a PNG"));
}

std::string kind_name(const testing::TestParamInfo<spec::DecoderKind>& tested) {
  return tested.param == spec::DecoderKind::fast ? "fast" : "opencv";
}
INSTANTIATE_TEST_SUITE_P(Kinds, DecoderTest, testing::Values(spec::DecoderKind::fast, spec::DecoderKind::opencv),
                         kind_name);

// The fast path knows why it failed, but OpenCV only that it did.
TEST(FastDecoder, SaysWhatIsWrongWithTheImageData) {
  const auto message_of = [](const PngRecipe& recipe) -> std::string {
    try {
      make_decoder(spec::DecoderKind::fast)->decode(build_png(recipe), "x.png");
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  };
  std::vector<std::uint8_t> stream = test::deflate(unfiltered_rows(test::ramp(64, 64), 64));
  stream[2] = 0xff;
  EXPECT_THAT(message_of({.width = 64, .height = 64, .image_data = stream}), HasSubstr("bad zlib stream"));
  EXPECT_THAT(message_of({.width = 2, .height = 2, .rows = {0, 1, 2}}), HasSubstr("ends before the last row"));
  EXPECT_THAT(message_of({.width = 2, .height = 2, .rows = {0, 1, 2, 9, 1, 2}}),
              HasSubstr("unknown row filter in row 1"));
}

// Makes random bytes under random filters, so that the colors differ and alpha has any value.
TEST(FastDecoder, GivesTheGrayThatOpencvGivesForColors) {
  constexpr std::uint32_t kWidth = 150;
  constexpr std::uint32_t kHeight = 70;
  std::mt19937 random(5);
  for (const auto& [color_type, channels] : {std::pair{2u, 3u}, {4u, 2u}, {6u, 4u}}) {
    std::vector<std::uint8_t> rows(kHeight * (kWidth * channels + 1));
    for (std::uint8_t& byte : rows) byte = static_cast<std::uint8_t>(random());
    for (std::size_t y = 0; y < kHeight; ++y) rows[y * (kWidth * channels + 1)] = static_cast<std::uint8_t>(y % 5);
    const Bytes file = build_png(
        {.width = kWidth, .height = kHeight, .color_type = static_cast<std::uint8_t>(color_type), .rows = rows});
    const auto fast = make_decoder(spec::DecoderKind::fast);
    const auto opencv = make_decoder(spec::DecoderKind::opencv);
    EXPECT_EQ(pixels_of(fast->decode(file, "x.png")), pixels_of(opencv->decode(file, "x.png"))) << color_type;
  }
}

TEST(OpencvDecoder, KeepsTheLimitThatTheUserSet) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts a new process, since OpenCV reads its limits once
  EXPECT_EXIT(
      {
        ::setenv("OPENCV_IO_MAX_IMAGE_WIDTH", "15", 1);
        try {
          make_decoder(spec::DecoderKind::opencv)->decode(flat_jpeg(), "x.png");
        } catch (const DataError& error) {
          std::fputs(error.what(), stderr);
          std::exit(3);
        }
        std::exit(0);
      },
      testing::ExitedWithCode(3), "x.png: .*validateInputImageSize");
}

TEST(OpencvDecoder, SaysHowToMendAMissingPlugin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts a new process, since the plugin is looked for once
  EXPECT_EXIT(
      {
        ::setenv("CHEXBENCH_PLUGIN_DIR", "/nonexistent", 1);
        try {
          make_decoder(spec::DecoderKind::opencv)->decode(gray_png(4, 4), "x.png");
        } catch (const DataError& error) {
          std::fputs(error.what(), stderr);
          std::exit(3);
        }
        std::exit(0);
      },
      testing::ExitedWithCode(3), "x.png: .*needs OpenCV.*/nonexistent/chexbench_opencv.so.*install");
}

}  // namespace
}  // namespace chexbench::image
