// Both decoders against cv::imdecode of the whole file, to gray and to colors, for all kinds of PNG and all chunks that
// could change pixels: libpng mixes colors to gray in linear light if the file gives its gamma.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "core/errors.hpp"
#include "image/decoder.hpp"
#include "image/opencv_decoder.hpp"
#include "image/pixels.hpp"
#include "image/png/png_file.hpp"
#include "image/png_builder.hpp"

namespace chexbench::image {
namespace {

using test::build_png;
using test::Bytes;
using test::pixels_of;
using test::PngChunk;
using test::PngRecipe;
using test::rgb_pixels_of;
using Numbers = std::vector<std::uint8_t>;

struct Kind {
  std::uint8_t color_type;
  std::uint8_t bit_depth;
  unsigned channels;
};

constexpr Kind kKinds[] = {{0, 1, 1}, {0, 2, 1}, {0, 4, 1}, {0, 8, 1}, {0, 16, 1}, {2, 8, 3}, {2, 16, 3}, {3, 1, 1},
                           {3, 2, 1}, {3, 4, 1}, {3, 8, 1}, {4, 8, 2}, {4, 16, 2}, {6, 8, 4}, {6, 16, 4}};

Numbers big_endian(std::initializer_list<std::uint32_t> values) {
  Numbers bytes;
  for (const std::uint32_t value : values) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  }
  return bytes;
}

PngChunk gamma(std::uint32_t value) { return {"gAMA", big_endian({value})}; }
const PngChunk kStandard{"sRGB", {0}};
const PngChunk kPrimaries{"cHRM", big_endian({31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000})};

// An ICC profile of 132 bytes: a header whose colors are `space`, and no tags.
PngChunk profile(const std::string& space) {
  Numbers icc = big_endian({132, 0, 0x02100000});
  const auto text = [&](const std::string& letters) { icc.insert(icc.end(), letters.begin(), letters.end()); };
  text("mntr" + space + "XYZ ");
  icc.resize(36);
  text("acsp");
  icc.resize(68);
  const Numbers illuminant = big_endian({0x0000f6d6, 0x00010000, 0x0000d32d});
  icc.insert(icc.end(), illuminant.begin(), illuminant.end());
  icc.resize(132);
  PngChunk chunk{"iCCP", Numbers(79, 'p')};  // libpng expects 11 bytes after the first 81, so the name is long
  chunk.data.insert(chunk.data.end(), {0, 0});
  const Numbers packed = test::deflate(icc);
  chunk.data.insert(chunk.data.end(), packed.begin(), packed.end());
  return chunk;
}

const std::map<std::string, std::vector<PngChunk>> kBeforePalette = {
    {"none", {}},
    {"sRGB", {kStandard}},
    {"gAMA of a screen", {gamma(45455)}},
    {"gAMA linear", {gamma(100000)}},
    {"gAMA out of range", {gamma(1)}},
    {"gAMA zero", {gamma(0)}},
    {"cHRM", {kPrimaries}},
    {"gAMA and cHRM", {gamma(60000), kPrimaries}},
    {"gAMA twice", {gamma(100000), gamma(45455)}},
    {"sRGB and another gAMA", {kStandard, gamma(100000)}},
    {"gAMA and another sRGB", {gamma(100000), kStandard}},
    {"iCCP of colors", {profile("RGB ")}},
    {"iCCP of gray", {profile("GRAY")}},
    {"gAMA and iCCP of gray", {gamma(45455), profile("GRAY")}},
    {"iCCP of gray and gAMA", {profile("GRAY"), gamma(45455)}},
    {"iCCP of gray and sRGB", {profile("GRAY"), kStandard}},
    {"sRGB and iCCP of colors", {kStandard, profile("RGB ")}},
    {"iCCP of nothing", {{"iCCP", {'p', 0, 0, 1, 2, 3}}, gamma(45455)}},
    {"sBIT and gAMA", {{"sBIT", {5, 5, 5, 5}}, gamma(45455)}},
    {"cICP", {{"cICP", {1, 13, 0, 1}}}},
    {"text", {{"tEXt", {'a', 0, 'b'}}, {"tIME", {7, 208, 1, 1, 0, 0, 0}}}},
};

std::vector<PngChunk> transparency(const Kind& kind) {
  if (kind.color_type == 0) return {{"tRNS", {0, 1}}};
  if (kind.color_type == 2) return {{"tRNS", {0, 9, 0, 9, 0, 9}}};
  if (kind.color_type == 3) return {{"tRNS", {0, 128}}};
  return {};
}

// The filtered bytes of all rows, of all passes. Gray colors have equal channels.
Numbers random_rows(const Kind& kind, unsigned width, unsigned height, bool interlaced, bool gray_colors,
                    std::mt19937& random) {
  struct Pass {
    unsigned x, y, step_x, step_y;
  };
  static const std::vector<Pass> kAdam7 = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  Numbers rows;
  for (const Pass& pass : interlaced ? kAdam7 : std::vector<Pass>{{0, 0, 1, 1}}) {
    const unsigned columns = (width - pass.x + pass.step_x - 1) / pass.step_x;
    const std::size_t row_bytes = (columns * kind.channels * kind.bit_depth + 7) / 8;
    for (unsigned y = pass.y; y < height; y += pass.step_y) {
      rows.push_back(static_cast<std::uint8_t>(random() % 5));
      const std::size_t begin = rows.size();
      for (std::size_t i = 0; i < row_bytes; ++i) rows.push_back(static_cast<std::uint8_t>(random()));
      const std::size_t sample = kind.bit_depth / 8;
      if (!gray_colors || kind.channels < 3) continue;
      for (std::size_t i = 0; i < row_bytes; ++i) {
        const std::size_t in_pixel = i % (kind.channels * sample);
        if (in_pixel >= sample && in_pixel < 3 * sample) rows[begin + i] = rows[begin + i - sample];
      }
    }
  }
  return rows;
}

// Returns the pixels in the decoder's colors, or none if the file is refused.
template <typename Decode>
Numbers result_of(spec::Color color, Decode decode) {
  try {
    return color == spec::Color::gray ? pixels_of(decode()) : rgb_pixels_of(decode());
  } catch (const DataError&) {
    return {};
  }
}

class PngColorTest : public testing::TestWithParam<Kind> {
 protected:
  void compare(PngRecipe recipe, const std::string& what) {
    std::mt19937 random(3);
    for (const bool interlaced : {false, true}) {
      for (const bool gray_colors : {false, true}) {
        recipe.interlace = interlaced ? 1 : 0;
        recipe.rows = random_rows(GetParam(), recipe.width, recipe.height, interlaced, gray_colors, random);
        const Bytes file = build_png(recipe);
        for (const Tested& tested : tested_) {
          compare(file, tested, what + (interlaced ? ", interlaced" : "") + (gray_colors ? ", gray colors" : ""));
        }
      }
    }
  }

  PngRecipe recipe() const {
    PngRecipe recipe{.width = 23, .height = 17, .bit_depth = GetParam().bit_depth, .color_type = GetParam().color_type};
    for (unsigned i = 0; recipe.color_type == 3 && i < 1u << GetParam().bit_depth; ++i) {
      for (const unsigned factor : {7u, 11u, 13u}) recipe.palette.push_back(static_cast<std::uint8_t>(i * factor + 40));
    }
    return recipe;
  }

  int files_ = 0;
  int refused_ = 0;

 private:
  struct Tested {
    explicit Tested(spec::Color to)
        : color(to),
          opencv(make_opencv_decoder(to)),
          by_fast(make_decoder(spec::DecoderKind::fast, {}, to)),
          by_opencv(make_decoder(spec::DecoderKind::opencv, {}, to)) {}
    spec::Color color;
    std::unique_ptr<OpencvDecoder> opencv;
    std::unique_ptr<Decoder> by_fast, by_opencv;
  };

  void compare(const Bytes& file, const Tested& tested, const std::string& what) {
    const Numbers whole = result_of(tested.color, [&] { return tested.opencv->decode(file); });
    for (Decoder* const decoder : {tested.by_fast.get(), tested.by_opencv.get()}) {
      EXPECT_TRUE(result_of(tested.color, [&] { return decoder->decode(file, "x.png"); }) == whole)
          << what << ", " << spec::to_string(tested.color) << (decoder == tested.by_fast.get() ? ", fast" : ", opencv");
    }
    refused_ += whole.empty() ? 1 : 0;
    ++files_;
  }

  const std::array<Tested, 2> tested_{Tested(spec::Color::gray), Tested(spec::Color::rgb)};
};

// libpng uses some chunks only at their place, and a profile only if no earlier chunk described the colors.
TEST_P(PngColorTest, PixelsAreThoseOfImdecodeWhereverTheChunksAre) {
  PngRecipe made = recipe();
  made.before_data = {gamma(45455),
                      {"bKGD", Numbers(GetParam().color_type == 3 ? 1
                                       : GetParam().channels > 2  ? 6
                                                                  : 2)}};
  compare(made, "gAMA behind the palette, bKGD");
  made.before_data = {};
  made.after_data = {gamma(45455), kStandard, profile("GRAY")};
  compare(made, "behind the image data");
  made.before_palette = {profile("GRAY")};
  compare(made, "before and behind the image data");
  made.before_palette = {gamma(45455), profile("GRAY"), {"eXIf", {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 0}}};
  made.before_data = transparency(GetParam());
  compare(made, "before and behind the image data, eXIf");
  EXPECT_EQ(refused_, 0) << "of " << files_;
}

TEST_P(PngColorTest, PixelsAreThoseOfImdecodeWithAnyColorChunks) {
  for (const auto& [what, chunks] : kBeforePalette) {
    PngRecipe made = recipe();
    made.before_palette = chunks;
    compare(made, what);
    made.before_data = transparency(GetParam());
    if (!made.before_data.empty()) compare(made, what + ", tRNS");
  }
  EXPECT_EQ(refused_, 0) << "of " << files_;
}
INSTANTIATE_TEST_SUITE_P(Kinds, PngColorTest, testing::ValuesIn(kKinds), [](const auto& tested) {
  return "Type" + std::to_string(tested.param.color_type) + "Bits" + std::to_string(tested.param.bit_depth);
});

// Otherwise the comparisons above would compare nothing.
TEST(PngColor, AGammaChangesColorsAndLeavesGrayColors) {
  const auto decode = [](const Numbers& pixels, const std::vector<PngChunk>& chunks) {
    const auto rows = test::unfiltered_rows(pixels, pixels.size());
    const Bytes file = build_png({.width = 3, .height = 1, .color_type = 2, .rows = rows, .before_palette = chunks});
    return pixels_of(make_decoder(spec::DecoderKind::fast)->decode(file, "x.png"));
  };
  const Numbers colors = {255, 0, 0, 0, 255, 0, 0, 0, 255}, grays = {9, 9, 9, 99, 99, 99, 199, 199, 199};
  EXPECT_EQ(decode(colors, {}), (Numbers{76, 149, 29}));
  EXPECT_NE(decode(colors, {kStandard}), (Numbers{76, 149, 29}));
  EXPECT_EQ(decode(grays, {kStandard}), (Numbers{9, 99, 199}));
}

TEST(PngColor, AreRedGreenAndBlueWithoutAlphaWhateverTheGamma) {
  const auto rows = test::unfiltered_rows(Numbers{255, 0, 7, 9, 1, 2, 3, 0}, 8);
  const Bytes file =
      build_png({.width = 2, .height = 1, .color_type = 6, .rows = rows, .before_palette = {gamma(100000)}});
  for (const auto kind : {spec::DecoderKind::fast, spec::DecoderKind::opencv}) {
    const auto decoder = make_decoder(kind, {}, spec::Color::rgb);
    EXPECT_EQ(pixels_of(decoder->decode(file, "x.png")), (Numbers{255, 0, 7, 1, 2, 3})) << spec::to_string(kind);
  }
}

// NIH's RGBA files have one, and libpng would write a line for it to stderr at every decode.
TEST(PngColor, AProfileForGrayImagesIsLeftOut) {
  PngFile png;
  const auto essentials = [&](const std::vector<PngChunk>& chunks) {
    const auto rows = test::unfiltered_rows(Numbers(3), 3);
    const Bytes file = build_png({.width = 1, .height = 1, .color_type = 2, .rows = rows, .before_palette = chunks});
    parse_png(file, "x.png", png);
    return png.essentials.size();
  };
  const std::size_t none = essentials({});
  EXPECT_EQ(essentials({profile("GRAY")}), none);
  EXPECT_EQ(essentials({gamma(45455), profile("GRAY")}), none + 1);
  EXPECT_EQ(essentials({profile("GRAY"), gamma(45455)}), none + 2);
  EXPECT_EQ(essentials({profile("RGB ")}), none + 1);
  EXPECT_EQ(essentials({{"zTXt", {'a', 0, 0}}}), none);
}

}  // namespace
}  // namespace chexbench::image
