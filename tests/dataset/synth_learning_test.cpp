// Tests that a network can learn the findings of a synthetic set: a far simpler learner already does.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/random.hpp"
#include "dataset/make/synth_pixels.hpp"
#include "dataset/nih_labels.hpp"

namespace chexbench::dataset {
namespace {

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
