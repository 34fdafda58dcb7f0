#include "dataset/make/synth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"

namespace chexbench::dataset {
namespace {

constexpr int kSide = 65;

ChestScene scene_of(std::uint64_t number, LabelBits labels) {
  return {.patient_seed = derive_seed(number, 1), .image_seed = derive_seed(number, 2), .labels = labels};
}

// Returns the change that a finding makes to an otherwise equal image.
std::vector<float> effect_of(unsigned finding, std::uint64_t number) {
  std::vector<float> with = draw_anatomy(scene_of(number, static_cast<LabelBits>(1u << finding)), kSide);
  const std::vector<float> without = draw_anatomy(scene_of(number, 0), kSide);
  for (std::size_t i = 0; i < with.size(); ++i) with[i] -= without[i];
  return with;
}

std::vector<float> mean_effect(unsigned finding) {
  constexpr std::uint64_t kImages = 12;
  std::vector<float> mean(kSide * kSide);
  for (std::uint64_t number = 0; number < kImages; ++number) {
    const std::vector<float> effect = effect_of(finding, number);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += effect[i] / kImages;
  }
  return mean;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

TEST(DrawAnatomy, ShowsEachFindingFarAboveTheGrain) {
  for (unsigned finding = 0; finding < kNihLabels; ++finding) {
    for (std::uint64_t number = 0; number < 8; ++number) {
      const std::vector<float> effect = effect_of(finding, number);
      const auto strong = std::count_if(effect.begin(), effect.end(), [](float e) { return std::abs(e) > 15; });
      EXPECT_GE(strong, 4) << kNihLabelNames[finding] << " in image " << number;
    }
  }
}

TEST(DrawAnatomy, GivesEachFindingAPatternOfItsOwn) {
  std::array<std::vector<float>, kNihLabels> patterns;
  for (unsigned f = 0; f < kNihLabels; ++f) patterns[f] = mean_effect(f);
  for (unsigned a = 0; a < kNihLabels; ++a) {
    for (unsigned b = a + 1; b < kNihLabels; ++b) {
      const double alike =
          dot(patterns[a], patterns[b]) / std::sqrt(dot(patterns[a], patterns[a]) * dot(patterns[b], patterns[b]));
      EXPECT_LT(alike, 0.8) << kNihLabelNames[a] << " and " << kNihLabelNames[b];
    }
  }
}

TEST(DrawAnatomy, KeepsAPatientsAnatomyFromImageToImage) {
  const auto difference = [](const ChestScene& a, const ChestScene& b) {
    const std::vector<float> first = draw_anatomy(a, kSide), second = draw_anatomy(b, kSide);
    double sum = 0;
    for (std::size_t i = 0; i < first.size(); ++i) sum += std::abs(first[i] - second[i]);
    return sum;
  };
  double same_patient = 0, other_patient = 0;
  for (std::uint64_t n = 0; n < 20; ++n) {
    same_patient += difference({n, 2 * n, 0}, {n, 2 * n + 1, 0});
    other_patient += difference({n, 2 * n, 0}, {n + 100, 2 * n + 1, 0});
  }
  EXPECT_LT(same_patient, other_patient);
}

// The bytes are the same on every machine. The hash below must change only if the picture is changed on purpose.
TEST(RenderChest, IsReproducible) {
  std::vector<std::uint8_t> pixels;
  render_chest(scene_of(1, 0x3fff), 96, pixels);
  EXPECT_EQ(fnv1a64({reinterpret_cast<const char*>(pixels.data()), pixels.size()}), 9663011224502659798u);
}

TEST(RenderChest, FillsAnySize) {
  std::vector<std::uint8_t> pixels;
  for (const int size : {32, 33, 127, 130}) {
    render_chest(scene_of(2, 0), size, pixels);
    ASSERT_EQ(pixels.size(), static_cast<std::size_t>(size * size));
    EXPECT_NE(pixels[pixels.size() / 2], pixels.back());
  }
}

// A network can learn the findings: a far simpler learner already does.

constexpr int kSize = 64;
constexpr std::uint64_t kTraining = 60;
constexpr std::uint64_t kHeldOut = 40;
using Image = std::vector<double>;

// Returns the pixels with brightness and contrast removed, because the exposure is not a finding.
Image image_of(std::uint64_t number, LabelBits labels) {
  std::vector<std::uint8_t> pixels;
  render_chest({.patient_seed = derive_seed(number, 5), .image_seed = derive_seed(number, 6), .labels = labels}, kSize,
               pixels);
  double sum = 0, squares = 0;
  for (const std::uint8_t pixel : pixels) {
    sum += pixel;
    squares += static_cast<double>(pixel) * pixel;
  }
  const double mean = sum / static_cast<double>(pixels.size());
  const double deviation = std::sqrt(squares / static_cast<double>(pixels.size()) - mean * mean);
  Image image;
  for (const std::uint8_t pixel : pixels) image.push_back((pixel - mean) / deviation);
  return image;
}

Image mean_of(std::uint64_t first, std::uint64_t count, LabelBits labels) {
  Image mean(kSize * kSize);
  for (std::uint64_t number = first; number < first + count; ++number) {
    const Image image = image_of(number, labels);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += image[i] / static_cast<double>(count);
  }
  return mean;
}

double distance2(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

class SynthLearningTest : public testing::TestWithParam<unsigned> {};

// Classifies held-out patients by the nearer of two mean images, which detects findings that are always in the same
// place.
TEST_P(SynthLearningTest, FindingsThatHaveAPlaceAreTheNearerMean) {
  const auto labels = static_cast<LabelBits>(1u << GetParam());
  const Image with = mean_of(0, kTraining, labels), without = mean_of(1000, kTraining, 0);
  int right = 0;
  for (std::uint64_t number = 2000; number < 2000 + kHeldOut; ++number) {
    const Image positive = image_of(number, labels), negative = image_of(number + 500, 0);
    right += distance2(positive, with) < distance2(positive, without) ? 1 : 0;
    right += distance2(negative, without) < distance2(negative, with) ? 1 : 0;
  }
  EXPECT_GE(right, static_cast<int>(2 * kHeldOut * 3 / 4)) << kNihLabelNames[GetParam()];
}

std::string finding_name(const testing::TestParamInfo<unsigned>& info) {
  return std::string(kNihLabelNames[info.param]);
}
// Mass, Nodule and other one-sided findings are at another place in each image, and Pleural_Thickening is a thin line
// that depends on the patient's breadth, so no mean image shows them.
INSTANTIATE_TEST_SUITE_P(Placed, SynthLearningTest, testing::Values(1u, 6u, 8u, 9u, 10u, 11u, 13u), finding_name);

}  // namespace
}  // namespace chexbench::dataset
