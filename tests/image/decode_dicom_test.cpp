// DICOM files of every kind that hospitals write: pixels against the formulas of DICOM PS3.3 C.11 and against pydicom's
// (tests/golden/dicom/make), damage, and messages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "image/decoder.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "image/dicom_builder.hpp"
#include "image/jpeg_builder.hpp"
#include "image/pixels.hpp"

namespace chexbench::image {
namespace {

using test::dicom_file;
using test::DicomElements;
using test::DicomRecipe;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<int> kPixels = {0, 1, 2, 100, 500, 1000, 1500, 2000, 2047, 2048, 2500, 3000, 3500, 4000, 4094, 4095};

class Dicom : public testing::Test {
 protected:
  std::vector<std::uint8_t> decode_file(const std::string& file) {
    return test::pixels_of(decoder_->decode(as_bytes(file), "x.dcm"));
  }
  std::vector<std::uint8_t> decode(const DicomRecipe& recipe, const std::vector<int>& pixels = kPixels) {
    return decode_file(dicom_file(recipe, pixels));
  }
  std::string refusal(const std::string& file) {
    const std::string message = message_of<DataError>([&] { decode_file(file); });
    EXPECT_THAT(message, AllOf(testing::StartsWith("x.dcm: DICOM: "), Not(HasSubstr("PLANTED"))));
    return message;
  }
  std::string refusal(const DicomRecipe& recipe) { return refusal(dicom_file(recipe, kPixels)); }

  const std::unique_ptr<Decoder> decoder_ = make_decoder(spec::DecoderKind::fast);
};

// A number between 0 and 1 as gray.
std::uint8_t gray(double place) {
  return static_cast<std::uint8_t>(std::floor(std::clamp(place, 0.0, 1.0) * 255 + 0.5));
}

template <typename Place>
std::vector<std::uint8_t> grays(Place place, const std::vector<int>& pixels = kPixels) {
  std::vector<std::uint8_t> all;
  for (const int pixel : pixels) all.push_back(gray(place(pixel)));
  return all;
}

// pydicom's apply_voi_lut(), with its names.
double linear(double arr, double c, double w) {
  c -= 0.5;
  w -= 1;
  if (arr <= c - w / 2) return 0;
  if (arr > c + w / 2) return 1;
  return (arr - c) / w + 0.5;
}

TEST_F(Dicom, SpreadsTheStoredBitsIfNoWindowIsGiven) {
  EXPECT_EQ(decode({}), grays([](int v) { return v / 4095.0; }));
  EXPECT_EQ(decode({.bits_stored = 16, .high_bit = 15}), grays([](int v) { return v / 65535.0; }));
  std::vector<int> small;
  for (int i = 0; i < 16; ++i) small.push_back(i * 17);
  EXPECT_EQ(decode({.bits_allocated = 8, .bits_stored = 8, .high_bit = 7}, small),
            std::vector<std::uint8_t>(small.begin(), small.end()));
}

TEST_F(Dicom, IsTheSameInEveryTransferSyntaxThatLosesNothing) {
  for (const char* const syntax : {test::kImplicit, test::kExplicit, test::kDeflated, test::kBigEndian, test::kRle}) {
    EXPECT_EQ(decode({.syntax = syntax}), decode(DicomRecipe{})) << syntax;
    std::vector<int> small(kPixels);
    for (int& pixel : small) pixel /= 16;
    EXPECT_EQ(decode({.syntax = syntax, .bits_allocated = 8, .bits_stored = 8, .high_bit = 7}, small),
              std::vector<std::uint8_t>(small.begin(), small.end()))
        << syntax;
  }
}

// Written by DCMTK's dcmcjpeg and dcmcjpls from explicit.dcm.
TEST_F(Dicom, DecodesLosslessJpegAndJpegLsToTheSamePixels) {
  const std::string folder = std::string(CHEXBENCH_GOLDEN) + "/dicom/";
  const std::vector<std::uint8_t> whole = decode_file(read_text(folder + "explicit.dcm"));
  ASSERT_EQ(whole.size(), 24u * 16u);
  for (const char* const name : {"jpeg-lossless.dcm", "jpeg-lossless-14.dcm", "jpeg-ls.dcm"})
    EXPECT_EQ(decode_file(read_text(folder + name)), whole) << name;
  const std::vector<std::uint8_t> lossy = decode_file(read_text(folder + "jpeg-extended.dcm"));
  ASSERT_EQ(lossy.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(lossy[i], whole[i], 2) << i;
}

TEST_F(Dicom, DecodesBaselineJpegAsAJpegFile) {
  const std::vector<std::byte> jpeg = test::build_jpeg({.width = 40, .height = 24});
  std::string fragment(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
  if (fragment.size() % 2 != 0) fragment += '\0';
  const DicomRecipe recipe{
      .syntax = test::kJpegBaseline, .rows = 24, .columns = 40, .bits_allocated = 8, .bits_stored = 8, .high_bit = 7};
  const std::vector<std::uint8_t> pixels =
      decode_file(dicom_file(recipe.syntax, test::dicom_header(recipe).fragments({fragment}).bytes));
  const std::vector<std::uint8_t> of_file = test::pixels_of(decoder_->decode(jpeg, "x.jpg"));
  ASSERT_EQ(pixels.size(), of_file.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_NEAR(pixels[i], of_file[i], 1) << i;
}

TEST_F(Dicom, InvertsMonochrome1) {
  std::vector<std::uint8_t> inverted = decode(DicomRecipe{});
  for (std::uint8_t& pixel : inverted) pixel = static_cast<std::uint8_t>(255 - pixel);
  EXPECT_EQ(decode({.photometric = "MONOCHROME1"}), inverted);
}

TEST_F(Dicom, AppliesTheFirstWindowAsPydicomDoes) {
  EXPECT_EQ(decode({.center = "2000\\100", .width = "1500\\10"}), grays([](int v) { return linear(v, 2000, 1500); }));
  EXPECT_EQ(decode({.center = "2000", .width = "1500", .function = "LINEAR_EXACT"}),
            grays([](int v) { return (v - 2000.0) / 1500 + 0.5; }));
  EXPECT_EQ(decode({.center = "2000", .width = "1500", .function = "SIGMOID"}),
            grays([](int v) { return 1 / (1 + std::exp(-4 * (v - 2000.0) / 1500)); }));
  EXPECT_EQ(decode({.center = "2048", .width = "1"}), grays([](int v) { return v >= 2048 ? 1 : 0; }));
}

TEST_F(Dicom, ReadsWordsInSmallLettersAndRefusesAFunctionThatNobodyKnows) {
  const auto by = [](const char* function) {
    return DicomRecipe{.center = "2000", .width = "1500", .function = function};
  };
  for (const char* const word : {"sigmoid", "Sigmoid", "SIGMOID "}) EXPECT_EQ(decode(by(word)), decode(by("SIGMOID")));
  EXPECT_EQ(decode(by("Linear_Exact")), decode(by("LINEAR_EXACT")));
  EXPECT_EQ(decode(by("linear")), decode(by("")));
  EXPECT_EQ(decode({.photometric = "Monochrome1"}), decode({.photometric = "MONOCHROME1"}));
  for (const char* const word : {"LINEAR EXACT", "PLANTED"})
    EXPECT_THAT(refusal(by(word)), HasSubstr("VOI LUT function is none of LINEAR, LINEAR_EXACT and SIGMOID"));
  DicomRecipe unused = by("PLANTED");
  unused.voi = {.values = {0, 65535}};
  EXPECT_NO_THROW(decode(unused));
  EXPECT_NO_THROW(decode({.function = "PLANTED"})) << "there is no window";
}

TEST_F(Dicom, RescalesBeforeTheWindow) {
  EXPECT_EQ(decode({.slope = "2.5", .intercept = "-1024", .center = "3000", .width = "4000"}),
            grays([](int v) { return linear(v * 2.5 - 1024, 3000, 4000); }));
  EXPECT_EQ(decode({.slope = "-1", .intercept = "4095"}), grays([](int v) { return (4095 - v) / 4095.0; }))
      << "a negative slope inverts";
}

TEST_F(Dicom, ReadsSignedPixels) {
  const std::vector<int> pixels = {-2048, -2047, -1000, -500, -100, -3, -2, -1, 0, 1, 2, 100, 500, 1000, 2046, 2047};
  EXPECT_EQ(decode({.is_signed = 1}, pixels), grays([](int v) { return (v + 2048) / 4095.0; }, pixels));
  EXPECT_EQ(decode({.is_signed = 1, .center = "0", .width = "1000"}, pixels),
            grays([](int v) { return linear(v, 0, 1000); }, pixels));
}

// Old files keep an overlay in the bits that the pixels leave free.
TEST_F(Dicom, LeavesBitsBesideTheStoredOnesOut) {
  std::vector<int> pixels(kPixels);
  for (int& pixel : pixels) pixel |= 0xf000;
  EXPECT_EQ(decode({}, pixels), decode(DicomRecipe{}));
  for (int& pixel : pixels) pixel = (pixel & 0xfff) << 4 | 5;
  EXPECT_EQ(decode({.high_bit = 15}, pixels), decode(DicomRecipe{}));
}

TEST_F(Dicom, AVoiLutGoesBeforeAWindow) {
  const DicomRecipe recipe{.center = "2000", .width = "1500", .voi = {.values = {0, 5000, 60000, 65535}, .first = 1}};
  EXPECT_EQ(
      decode(recipe), grays([](int v) {
        return std::vector<double>{0, 5000, 60000, 65535}[static_cast<std::size_t>(std::clamp(v - 1, 0, 3))] / 65535;
      }));
}

// pydicom and DCMTK read all of these to the same pixels.
TEST_F(Dicom, ReadsAHeaderOfTheFileWhoseLengthOrPreambleIsWrong) {
  constexpr std::size_t kHead = 132, kLengthElement = 12;
  for (const char* const syntax : {test::kExplicit, test::kImplicit, test::kDeflated, test::kRle}) {
    const std::string file = dicom_file({.syntax = syntax}, kPixels);
    for (const int length : {0, 8, 4000, -1}) {
      std::string wrong = file;
      for (int i = 0; i < 4; ++i) wrong[kHead + 8 + static_cast<std::size_t>(i)] = static_cast<char>(length >> 8 * i);
      EXPECT_EQ(decode_file(wrong), decode(DicomRecipe{})) << syntax << ", length " << length;
    }
    EXPECT_EQ(decode_file(file.substr(kHead)), decode(DicomRecipe{})) << syntax;
    std::string without = file;
    EXPECT_EQ(decode_file(without.erase(kHead, kLengthElement)), decode(DicomRecipe{})) << syntax;
    EXPECT_EQ(decode_file(without.substr(kHead)), decode(DicomRecipe{})) << syntax;
  }
  EXPECT_THAT(refusal(dicom_file(DicomRecipe{}, kPixels).substr(0, 150)), HasSubstr("its header cannot be read"));
  EXPECT_THAT(message_of<DataError>([&] { decode_file(std::string(200, 'D')); }), HasSubstr("DICM at byte 128"));
}

TEST_F(Dicom, ReadsADataSetThatIsCalledImplicitOrExplicitWrongly) {
  const auto pretend = [](const char* syntax, const char* named) {
    const std::string file = dicom_file({.syntax = syntax}, kPixels);
    const std::size_t meta = dicom_file(syntax, "").size();
    return dicom_file(named, file.substr(meta));
  };
  EXPECT_EQ(decode_file(pretend(test::kExplicit, test::kImplicit)), decode(DicomRecipe{}));
  EXPECT_EQ(decode_file(pretend(test::kImplicit, test::kExplicit)), decode(DicomRecipe{}));
}

TEST_F(Dicom, SaysWhichTransferSyntaxItCannotRead) {
  const DicomRecipe recipe{.syntax = test::kJpeg2000};
  EXPECT_THAT(refusal(dicom_file(recipe.syntax, test::dicom_header(recipe).fragments({"1234"}).bytes)),
              AllOf(HasSubstr("JPEG 2000"), HasSubstr(test::kJpeg2000), HasSubstr("does not read here")));
  EXPECT_THAT(refusal(DicomRecipe{.syntax = "1.2.3.4.5"}), HasSubstr("transfer syntax 1.2.3.4.5 is unknown"));
  EXPECT_THAT(refusal(dicom_file("", "")), HasSubstr("names no transfer syntax"));
  EXPECT_THAT(refusal(dicom_file("PLANTED", "")), HasSubstr("no UID"));
}

TEST_F(Dicom, RefusesWhatIsNotOneGrayFrame) {
  EXPECT_THAT(refusal(dicom_file(test::kExplicit, test::dicom_header({}).bytes)), HasSubstr("it has no pixels"));
  EXPECT_THAT(refusal(DicomRecipe{.frames = "3"}), HasSubstr("it has 3 frames: one is read"));
  EXPECT_EQ(decode({.frames = "1"}), decode(DicomRecipe{}));
  EXPECT_THAT(refusal(DicomRecipe{.samples = 3, .photometric = "RGB"}), HasSubstr("interpretation is RGB"));
  EXPECT_THAT(refusal(DicomRecipe{.photometric = "PLANTED"}), HasSubstr("interpretation is another one"));
  EXPECT_THAT(refusal(DicomRecipe{.samples = 3}), HasSubstr("3 samples for each pixel"));
}

TEST_F(Dicom, RefusesHeadersThatContradictThemselves) {
  EXPECT_THAT(refusal(DicomRecipe{.rows = -1}), HasSubstr("no number of rows"));
  EXPECT_THAT(refusal(DicomRecipe{.rows = 0}), HasSubstr("0 pixels"));
  EXPECT_THAT(refusal(DicomRecipe{.bits_allocated = 32, .bits_stored = 32, .high_bit = 31}),
              HasSubstr("32 bits for each pixel: 8 and 16 are read"));
  EXPECT_THAT(refusal(DicomRecipe{.bits_stored = 17}), HasSubstr("contradictory"));
  EXPECT_THAT(refusal(DicomRecipe{.high_bit = 5}), HasSubstr("contradictory"));
  EXPECT_THAT(refusal(DicomRecipe{.slope = "0"}), HasSubstr("rescale slope is 0"));
  EXPECT_THAT(refusal(DicomRecipe{.center = "100", .width = "0"}), HasSubstr("its window has center 100 and width 0"));
}

TEST_F(Dicom, RefusesHugeImagesByTheirHeader) {
  EXPECT_THAT(refusal(DicomRecipe{.rows = 65535, .columns = 65535}), HasSubstr("65535x65535 pixels"));
  EXPECT_THAT(refusal(DicomRecipe{.rows = 16384, .columns = 16384}), HasSubstr("more than 67108864 in all"));
  EXPECT_THAT(refusal(DicomRecipe{.rows = 4000, .columns = 4000}), HasSubstr("16 of its 16000000 pixels"));
}

TEST_F(Dicom, RefusesWhatInflatesWithoutEnd) {
  const DicomRecipe recipe{.syntax = test::kDeflated};
  DicomElements set = test::dicom_header(recipe);
  set.element(0x7fe00010, "OW", std::string(std::size_t{300} << 20, '\0'));
  EXPECT_THAT(refusal(dicom_file(test::kDeflated, set.bytes)), HasSubstr("inflates to more than"));
}

// For any truncation or change, the result is an error or an image of the right size, never a crash.
TEST_F(Dicom, SurvivesTruncationAndDamageAnywhere) {
  for (const char* const syntax : {test::kImplicit, test::kExplicit, test::kDeflated, test::kBigEndian, test::kRle}) {
    const std::string file = dicom_file({.syntax = syntax,
                                         .center = "2000",
                                         .width = "1500",
                                         .modality = {.values = {1, 2}},
                                         .voi = {.values = {1, 2}}},
                                        kPixels);
    for (std::size_t bytes = 132; bytes + 2 < file.size(); ++bytes)
      EXPECT_FALSE(message_of<DataError>([&] { decode_file(file.substr(0, bytes)); }).empty())
          << syntax << ' ' << bytes;
    for (std::size_t at = 132; at < file.size(); ++at) {
      for (const char flip : {'\1', '\x80', '\xff'}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        try {
          decode_file(damaged);
        } catch (const DataError& error) {
          EXPECT_THAT(error.what(), Not(HasSubstr("PLANTED")));
        }
      }
    }
  }
}

TEST_F(Dicom, AreFilesWithTheFourLettersAndNamesOfTheirKind) {
  EXPECT_TRUE(is_dicom(as_bytes(dicom_file(DicomRecipe{}, kPixels))));
  EXPECT_TRUE(is_dicom(as_bytes(dicom_file(DicomRecipe{}, kPixels).substr(132))));
  EXPECT_FALSE(is_dicom(as_bytes(std::string(131, 'D'))));
  EXPECT_FALSE(is_dicom(as_bytes(std::string("\2\0\1\0XX", 6) + std::string(200, '\0'))));
  for (const char* const name : {"a.dcm", "A.DCM", "b.dicom", "x/y.DiCoM"}) EXPECT_TRUE(is_dicom_name(name)) << name;
  for (const char* const name : {"dcm", "a.dcm.png", "dicom", ""}) EXPECT_FALSE(is_dicom_name(name)) << name;
}

// Lookup tables: their meaning, and the errors of broken ones.
class DicomLuts : public Dicom {
 protected:
  // Of a file of two by two pixels.
  std::vector<std::uint8_t> decode(DicomRecipe recipe, const std::vector<int>& pixels) {
    recipe.rows = recipe.columns = 2;
    return decode_file(dicom_file(recipe, pixels));
  }
  std::string refusal(const DicomRecipe& recipe) {
    return message_of<DataError>([&] { decode(recipe, {0, 1, 2, 3}); });
  }
};

TEST_F(DicomLuts, GiveTheGrayThatPydicomGivesInEverySyntaxAndInterpretation) {
  const std::string folder = std::string(CHEXBENCH_GOLDEN) + "/dicom/";
  const auto golden = nlohmann::json::parse(read_text(folder + "grays.json"));
  ASSERT_GT(golden.size(), 40u);
  for (const auto& known : golden) {
    const auto name = known.at("file").get<std::string>();
    const std::vector<std::uint8_t> ours = decode_file(read_text(folder + name));
    const auto theirs = known.at("gray").get<std::vector<int>>();
    ASSERT_EQ(ours.size(), theirs.size()) << name;
    for (std::size_t i = 0; i < ours.size(); ++i)
      ASSERT_LE(std::abs(ours[i] - theirs[i]), known.at("most_apart").get<int>()) << name << ", pixel " << i;
  }
}

TEST_F(DicomLuts, MapStoredValuesBeforeAnythingElseAndInPlaceOfARescale) {
  const DicomRecipe recipe{.slope = "3", .intercept = "7", .modality = {.values = {0, 65535, 257, 514}, .first = 10}};
  EXPECT_THAT(decode(recipe, {0, 11, 12, 4000}), ElementsAre(0, 255, 1, 2));
  DicomRecipe windowed = recipe;
  windowed.center = "257.5";
  windowed.width = "257";
  EXPECT_THAT(decode(windowed, {10, 11, 12, 13}), ElementsAre(0, 255, 128, 255)) << "the window is of the LUT's values";
  DicomRecipe both = recipe;
  both.voi = {.values = {65535, 0}, .first = 257};
  EXPECT_THAT(decode(both, {10, 11, 12, 13}), ElementsAre(255, 0, 255, 0));
}

// The number of a value below zero is signed, regardless of its kind.
TEST_F(DicomLuts, MayBeginBelowZero) {
  for (const char* const kind : {"US", "SS"}) {
    for (const char* const syntax : {test::kImplicit, test::kExplicit, test::kBigEndian}) {
      const DicomRecipe recipe{.syntax = syntax,
                               .is_signed = 1,
                               .modality = {.values = {0, 0x5555, 0xAAAA, 0xFFFF}, .first = -2, .descriptor_vr = kind}};
      EXPECT_THAT(decode(recipe, {-100, -1, 0, 1}), ElementsAre(0, 85, 170, 255)) << kind << ' ' << syntax;
      DicomRecipe of_voi = recipe;
      std::swap(of_voi.modality, of_voi.voi);
      EXPECT_THAT(decode(of_voi, {-100, -1, 0, 1}), ElementsAre(0, 85, 170, 255)) << kind << ' ' << syntax;
    }
  }
}

TEST_F(DicomLuts, OfEightBitsHoldOneOrTwoEntriesInAWord) {
  EXPECT_THAT(decode({.modality = {.values = {1, 3, 2}, .bits = 8}}, {0, 1, 2, 3}), ElementsAre(1, 3, 2, 2));
  EXPECT_THAT(decode({.modality = {.values = {0x0301, 0x0002}, .bits = 8, .entries = 3}}, {0, 1, 2, 3}),
              ElementsAre(1, 3, 2, 2));
}

TEST_F(DicomLuts, ThatAreBrokenAreRefusedByTheirName) {
  for (const auto& [member, name] :
       {std::pair(&DicomRecipe::modality, "modality LUT"), std::pair(&DicomRecipe::voi, "VOI LUT")}) {
    const auto refused = [&](const test::DicomLutRecipe& lut) {
      DicomRecipe recipe;
      recipe.*member = lut;
      return refusal(recipe);
    };
    const std::string its = fmt::format("x.dcm: DICOM: its {} has ", name);
    EXPECT_THAT(refused({.values = {1, 2}, .entries = 3}), HasSubstr(its + "2 of its 3 entries: it is truncated"));
    EXPECT_THAT(refused({.values = {1, 2}, .entries = 0}), HasSubstr(its + "2 of its 65536 entries"));
    EXPECT_THAT(refused({.values = {1, 2}, .bits = 7}), HasSubstr(its + "entries of 7 bits: 8 to 16 are read"));
    EXPECT_THAT(refused({.values = {1, 2}, .bits = 17}), HasSubstr(its + "entries of 17 bits"));
    EXPECT_THAT(refused({.values = {1, 2}, .descriptor_vr = "UL"}), HasSubstr(its + "no descriptor"));
    test::DicomElements set = test::dicom_header({.rows = 2, .columns = 2});
    test::DicomElements item(test::kExplicit);
    item.element(0x00283002, "US", std::string("\2\0\0\0\20\0", 6));
    set.item(member == &DicomRecipe::voi ? 0x00283010 : 0x00283000, item);
    set.element(0x7fe00010, "OW", std::string(8, '\0'));
    EXPECT_THAT(message_of<DataError>([&] { decode_file(test::dicom_file(test::kExplicit, set.bytes)); }),
                HasSubstr(its + "no entries"));
  }
}

}  // namespace
}  // namespace chexbench::image
