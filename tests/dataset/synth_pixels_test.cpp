#include "dataset/make/synth_pixels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/random.hpp"
#include "core/scratch.hpp"
#include "dataset/nih_labels.hpp"

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

}  // namespace
}  // namespace chexbench::dataset
