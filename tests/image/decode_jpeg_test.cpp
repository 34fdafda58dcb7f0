// Tests of JPEGs: the fast path compared with OpenCV, scaled decoding compared with full decoding, and damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "image/decoder.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "image/jpeg/jpeg_turbo.hpp"
#include "image/jpeg_builder.hpp"
#include "image/pixels.hpp"

namespace chexbench::image {
namespace {

using spec::DecoderKind;
using test::build_jpeg;
using test::JpegRecipe;
using test::pixels_of;
using test::rgb_pixels_of;
using testing::AllOf;
using testing::HasSubstr;

const JpegRecipe kGray{.width = 640, .height = 480};
const JpegRecipe kColor{.width = 500, .height = 333, .channels = 3};

struct Decoded {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode(std::span<const std::byte> file, DecoderKind kind = DecoderKind::fast, const LeastSize& least = {}) {
  const auto decoder = make_decoder(kind, least);
  const DecodedImage image = decoder->decode(file, "x.jpg");
  return {image.width, image.height, pixels_of(image)};
}

std::string failure_of(std::span<const std::byte> file, DecoderKind kind = DecoderKind::fast) {
  return message_of<DataError>([&] { decode(file, kind); });
}

// Returns the file without its segments of one marker, such as 0xdb (DQT) and 0xc4 (DHT).
std::vector<std::byte> without(unsigned marker, std::span<const std::byte> file) {
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(file[i]); };
  std::vector<std::byte> rest(file.begin(), file.begin() + 2);
  std::size_t begin = 2;
  while (at(begin + 1) != 0xda) {
    const std::size_t end = begin + 2 + (at(begin + 2) << 8 | at(begin + 3));
    if (at(begin + 1) != marker) rest.insert(rest.end(), file.begin() + begin, file.begin() + end);
    begin = end;
  }
  rest.insert(rest.end(), file.begin() + begin, file.end());
  return rest;
}

// Returns the decoder's result for the file: the pixels as text, or the error.
std::string outcome_of(Decoder& decoder, std::span<const std::byte> file) {
  try {
    const auto pixels = pixels_of(decoder.decode(file, "x.jpg"));
    return {pixels.begin(), pixels.end()};
  } catch (const DataError& error) {
    return error.what();
  }
}

// Returns the means over boxes of `side` x `side` pixels, which are smaller at the right and lower edges.
Decoded boxes_of(const Decoded& image, int side) {
  Decoded small{.width = (image.width + side - 1) / side, .height = (image.height + side - 1) / side};
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      int sum = 0, count = 0;
      for (int v = y * side; v < std::min((y + 1) * side, image.height); ++v) {
        for (int u = x * side; u < std::min((x + 1) * side, image.width); ++u, ++count) {
          sum += image.pixels[static_cast<std::size_t>(v * image.width + u)];
        }
      }
      small.pixels.push_back(static_cast<std::uint8_t>((sum + count / 2) / count));
    }
  }
  return small;
}

TEST(JpegDecoder, GivesThePixelsThatOpencvGives) {
  for (const JpegRecipe& recipe :
       {kGray, kColor, JpegRecipe{.width = 1, .height = 1}, JpegRecipe{.width = 37, .height = 23, .channels = 3},
        JpegRecipe{.width = 200, .height = 100, .channels = 3, .quality = 40, .progressive = true}}) {
    const auto file = build_jpeg(recipe);
    const Decoded fast = decode(file);
    EXPECT_EQ(fast.width, recipe.width);
    EXPECT_EQ(fast, decode(file, DecoderKind::opencv)) << recipe.width << "x" << recipe.height;
  }
}

Decoded decode_rgb(std::span<const std::byte> file, DecoderKind kind, const LeastSize& least = {}) {
  const auto decoder = make_decoder(kind, least, spec::Color::rgb);
  const DecodedImage image = decoder->decode(file, "x.jpg");
  return {image.width, image.height, rgb_pixels_of(image)};
}

TEST(JpegDecoder, GivesTheColorsThatOpencvGives) {
  for (const JpegRecipe& recipe :
       {kGray, kColor, JpegRecipe{.width = 1, .height = 1, .channels = 3},
        JpegRecipe{.width = 37, .height = 23, .channels = 3}, JpegRecipe{.width = 40, .height = 30, .channels = 4},
        JpegRecipe{.width = 200, .height = 100, .channels = 3, .quality = 40, .progressive = true}}) {
    const auto file = build_jpeg(recipe);
    const Decoded fast = decode_rgb(file, DecoderKind::fast);
    EXPECT_EQ(fast.pixels.size(), static_cast<std::size_t>(recipe.width * recipe.height * 3));
    EXPECT_EQ(fast, decode_rgb(file, DecoderKind::opencv)) << recipe.width << "x" << recipe.height;
  }
}

TEST(JpegDecoder, KeepsRedGreenAndBlueInThisOrder) {
  const JpegRecipe recipe{.width = 16, .height = 16, .channels = 3, .quality = 100};
  std::vector<std::uint8_t> orange;
  for (int i = 0; i < 256; ++i) orange.insert(orange.end(), {250, 130, 20});
  const auto file = build_jpeg(recipe, orange);
  for (const DecoderKind kind : {DecoderKind::fast, DecoderKind::opencv}) {
    const Decoded image = decode_rgb(file, kind);
    for (std::size_t i = 0; i < image.pixels.size(); ++i)
      ASSERT_NEAR(image.pixels[i], orange[i], 3) << spec::to_string(kind) << ", byte " << i;
  }
}

TEST(JpegScale, ScalesColorsAsItScalesGray) {
  const auto file = build_jpeg(kColor);
  const LeastSize least{kColor.width / 4, kColor.height / 4};
  const Decoded scaled = decode_rgb(file, DecoderKind::fast, least);
  const Decoded gray = decode(file, DecoderKind::fast, least);
  EXPECT_EQ(scaled.width, gray.width);
  EXPECT_EQ(scaled.height, gray.height);
  EXPECT_EQ(scaled.pixels.size(), gray.pixels.size() * 3);
}

TEST(JpegDecoder, LeavesFourComponentsToOpencv) {
  const auto file = build_jpeg({.width = 40, .height = 30, .channels = 4});
  EXPECT_EQ(decode(file), decode(file, DecoderKind::opencv));
}

TEST(JpegDecoder, IgnoresACamerasNoteOnOrientation) {
  const auto plain = build_jpeg({.width = 40, .height = 30});
  // An APP1 segment with one Exif entry: orientation 6, a quarter turn.
  constexpr unsigned char kExif[] = {0xff, 0xe1, 0, 34,   'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
                                     0,    1,    1, 0x12, 0,   3,   0,   0,   0, 1, 0,   6,   0, 0,  0, 0, 0, 0};
  std::vector<std::byte> turned(plain.begin(), plain.begin() + 2);
  for (const unsigned char byte : kExif) turned.push_back(std::byte{byte});
  turned.insert(turned.end(), plain.begin() + 2, plain.end());
  EXPECT_EQ(decode(turned), decode(plain));
  EXPECT_EQ(decode(turned, DecoderKind::opencv), decode(plain));
}

TEST(JpegScale, IsTheStrongestThatLeavesTheSizeInBothDirections) {
  const auto scale = [](int width, int height, const LeastSize& least) {
    return jpeg_scale_denominator({.width = width, .height = height, .components = 1}, least);
  };
  EXPECT_EQ(scale(1792, 1792, {224, 224}), 8);
  EXPECT_EQ(scale(1785, 1785, {224, 224}), 8);  // rounded up
  EXPECT_EQ(scale(1784, 1784, {224, 224}), 4);
  EXPECT_EQ(scale(4000, 448, {224, 224}), 2);
  EXPECT_EQ(scale(447, 447, {224, 224}), 2);
  EXPECT_EQ(scale(446, 4000, {224, 224}), 1);
  EXPECT_EQ(scale(4000, 4000, {}), 1);
  EXPECT_EQ(scale(4000, 4000, {64, 1000}), 4);
}

// libjpeg scales in the transform, so the result is near the mean over boxes of full pixels, but not equal.
TEST(JpegScale, GivesWhatOpencvsPixelsGiveOverBoxesWithinTwoGrayLevels) {
  for (const JpegRecipe& recipe : {kGray, kColor}) {
    const auto file = build_jpeg(recipe);
    const Decoded full = decode(file, DecoderKind::opencv);
    for (const int denominator : {2, 4, 8}) {
      const LeastSize least{recipe.width / denominator, recipe.height / denominator};
      const Decoded scaled = decode(file, DecoderKind::fast, least);
      const Decoded boxes = boxes_of(full, denominator);
      ASSERT_EQ(scaled.width, boxes.width);
      ASSERT_EQ(scaled.height, boxes.height);
      double sum = 0;
      for (std::size_t i = 0; i < boxes.pixels.size(); ++i) {
        sum += std::abs(int{scaled.pixels[i]} - int{boxes.pixels[i]});
      }
      EXPECT_LT(sum / static_cast<double>(boxes.pixels.size()), 2.0) << "1/" << denominator;
    }
  }
}

TEST(JpegScale, DecodesAllPixelsUnlessASizeIsAskedFor) {
  EXPECT_EQ(decode(build_jpeg(kGray)).width, kGray.width);
  EXPECT_EQ(decode(build_jpeg(kGray), DecoderKind::opencv, {32, 32}).width, kGray.width);
}

// Both decoders refuse a file that ends early; OpenCV alone would fill the rest with gray.
TEST(JpegDamage, ATruncatedFileIsAnErrorWhereverItEnds) {
  const auto file = build_jpeg(kColor);
  for (const std::size_t length :
       {std::size_t{3}, std::size_t{21}, std::size_t{400}, file.size() / 2, file.size() - 1}) {
    for (const DecoderKind kind : {DecoderKind::fast, DecoderKind::opencv}) {
      EXPECT_THAT(failure_of(std::span(file).first(length), kind), AllOf(HasSubstr("x.jpg"), HasSubstr("truncated")))
          << length;
    }
  }
}

TEST(JpegDamage, AWarningOfLostDataIsAnError) {
  auto file = build_jpeg(kColor);
  // An end-of-image marker in the middle: the markers are complete, but half of the pixels is missing.
  const std::size_t middle = file.size() / 2;
  file[middle] = std::byte{0xff};
  file[middle + 1] = std::byte{0xd9};
  EXPECT_THAT(failure_of(file), AllOf(HasSubstr("x.jpg"), HasSubstr("libjpeg: ")));
}

TEST(JpegDamage, AFileWithoutItsTablesIsNotDecodedByThoseOfTheImageBefore) {
  const auto before = build_jpeg({.width = 64, .height = 48, .quality = 40, .progressive = true});
  const auto file = build_jpeg({.width = 64, .height = 48});
  for (const unsigned marker : {0xdbu, 0xc4u}) {
    const auto bare = without(marker, file);
    ASSERT_LT(bare.size(), file.size());
    const auto used = make_decoder(DecoderKind::fast);
    used->decode(before, "before.jpg");
    EXPECT_EQ(outcome_of(*used, bare), outcome_of(*make_decoder(DecoderKind::fast), bare)) << marker;
  }
  EXPECT_THAT(failure_of(without(0xdb, file)), HasSubstr("libjpeg: Quantization table 0x00 was not defined"));
}

TEST(JpegDamage, BytesBehindTheImageAreNone) {
  auto file = build_jpeg(kGray);
  const Decoded whole = decode(file);
  file.resize(file.size() + 100, std::byte{7});
  EXPECT_EQ(decode(file), whole);
}

TEST(JpegDamage, NamesWhatAHeaderHasWrong) {
  const auto file = build_jpeg({.width = 40, .height = 30});
  const auto frame = [&](std::byte high, std::byte low) {
    auto changed = file;
    for (std::size_t i = 2; i + 8 < changed.size(); ++i) {
      if (changed[i] != std::byte{0xff} || changed[i + 1] != std::byte{0xc0}) continue;
      changed[i + 5] = high;
      changed[i + 6] = low;
      break;
    }
    return changed;
  };
  EXPECT_THAT(failure_of(frame(std::byte{0xff}, std::byte{0xff})), HasSubstr("more than 16384 a side"));
  EXPECT_THAT(failure_of(frame(std::byte{0}, std::byte{0})), HasSubstr("40x0"));
  const std::vector<std::byte> empty = {std::byte{0xff}, std::byte{0xd8}, std::byte{0xff}, std::byte{0xd9}};
  EXPECT_THAT(failure_of(empty), HasSubstr("no frame"));
  auto unmarked = file;
  unmarked[20] = std::byte{0};  // after JFIF's segment
  EXPECT_THAT(failure_of(unmarked), HasSubstr("byte 20"));
}

TEST(JpegDamage, OneFlippedByteEndsInAnImageOrInAnErrorOfTheData) {
  const auto file = build_jpeg({.width = 64, .height = 48, .channels = 3});
  const auto decoder = make_decoder(DecoderKind::fast);
  for (std::size_t i = 0; i < file.size(); ++i) {
    auto changed = file;
    changed[i] ^= std::byte{0x55};
    try {
      decoder->decode(changed, "x.jpg");
    } catch (const DataError&) {
    }
  }
  EXPECT_EQ(pixels_of(decoder->decode(file, "x.jpg")), decode(file).pixels);  // the decoder still works after an error
}

}  // namespace
}  // namespace chexbench::image
