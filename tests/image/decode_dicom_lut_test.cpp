// Gray values of DICOM files against pydicom's (tests/golden/dicom/make), and lookup tables: their meaning, and the
// errors of broken ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "image/decoder.hpp"
#include "image/dicom_builder.hpp"
#include "image/pixels.hpp"

namespace chexbench::image {
namespace {

using test::DicomRecipe;
using testing::ElementsAre;
using testing::HasSubstr;

class DicomLuts : public testing::Test {
 protected:
  std::vector<std::uint8_t> decode_file(const std::string& file) {
    return test::pixels_of(decoder_->decode(as_bytes(file), "x.dcm"));
  }
  // Of a file of two by two pixels.
  std::vector<std::uint8_t> decode(DicomRecipe recipe, const std::vector<int>& pixels) {
    recipe.rows = recipe.columns = 2;
    return decode_file(test::dicom_file(recipe, pixels));
  }
  std::string refusal(const DicomRecipe& recipe) {
    return message_of<DataError>([&] { decode(recipe, {0, 1, 2, 3}); });
  }

  const std::unique_ptr<Decoder> decoder_ = make_decoder(spec::DecoderKind::fast);
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
