#include "engine/onednn/loss.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/batch.hpp"

namespace chexbench::engine::onednn {
namespace {

// By the default rule.
double binary_cross_entropy(std::span<const float> logits, std::span<const float> targets, std::span<float> gradient) {
  return loss_of({}, logits.size(), logits, targets, gradient);
}

TEST(BinaryCrossEntropy, OfUndecidedLogitsIsTheLogarithmOfTwo) {
  const std::array<float, 2> logits{0, 0}, targets{0, 1};
  std::array<float, 2> gradient;
  EXPECT_NEAR(binary_cross_entropy(logits, targets, gradient), std::log(2.0), 1e-12);
  EXPECT_FLOAT_EQ(gradient[0], 0.25f);
  EXPECT_FLOAT_EQ(gradient[1], -0.25f);
}

TEST(BinaryCrossEntropy, StaysFiniteForLargeLogits) {
  const std::array<float, 2> logits{500, -500}, targets{0, 1};
  std::array<float, 2> gradient;
  EXPECT_NEAR(binary_cross_entropy(logits, targets, gradient), 500, 1e-9);
  EXPECT_FLOAT_EQ(gradient[0], 0.5f);
}

// As the CheXpert paper does: the sum over the labels that are known, here divided by the number of all.
TEST(BinaryCrossEntropy, LeavesIgnoredLabelsOut) {
  const std::array<float, 4> logits{0, 5, 0, -7}, targets{0, kIgnoredLabel, 1, kIgnoredLabel};
  std::array<float, 4> gradient;
  EXPECT_NEAR(binary_cross_entropy(logits, targets, gradient), std::log(2.0) / 2, 1e-12);
  EXPECT_EQ(gradient, (std::array<float, 4>{0.125f, 0, -0.125f, 0}));
}

TEST(BinaryCrossEntropy, GradientIsTheDerivative) {
  const std::array<float, 3> targets{1, 0, 1};
  std::array<float, 3> logits{0.5f, -1.25f, 2.0f}, gradient, unused;
  binary_cross_entropy(logits, targets, gradient);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    auto above = logits, below = logits;
    above[i] += 0x1p-10f;
    below[i] -= 0x1p-10f;
    const double difference =
        (binary_cross_entropy(above, targets, unused) - binary_cross_entropy(below, targets, unused)) / 0x1p-9;
    EXPECT_NEAR(static_cast<double>(gradient[i]), difference, 1e-6);
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
