// Compares the loss and its gradient with double precision, and the gradient with differences of the loss.
#include "engine/cuda/kernels/loss.hpp"

#include <cmath>
#include <limits>

#include "core/batch.hpp"
#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr int kOutputs = 14, kLd = 16;

double exact_loss(double z, double t) { return std::fmax(z, 0.0) - z * t + std::log1p(std::exp(-std::abs(z))); }

template <typename T>
struct Batch {
  Tensor<T> logits, gradient;
  std::vector<float> targets, bias, biased;
  float loss = -1;

  explicit Batch(int images) : logits(images, kLd), gradient(images, kLd) {
    logits.randomize(1, 0, 3);
    const auto random = random_values(images * kOutputs, 2, 0, 1);
    for (const float value : random) targets.push_back(value < 0.3f ? 1.0f : 0.0f);
    bias = random_values(kOutputs, 3, -1, 1);
    biased.assign(targets.size(), kGuard);
  }
  double biased_logit(int image, int output) const {
    return logits(image, output) + static_cast<double>(bias[static_cast<std::size_t>(output)]);
  }
  double target(int image, int output) const {
    return static_cast<double>(targets[static_cast<std::size_t>(image * kOutputs + output)]);
  }
  void run(float scale) {
    const Loss<T> op{.logits = logits.view().data,
                     .bias = bias.data(),
                     .targets = targets.data(),
                     .biased = biased.data(),
                     .gradient = gradient.view().data,
                     .scale = &scale,
                     .loss = &loss,
                     .batch = logits.rows(),
                     .outputs = kOutputs,
                     .ld = kLd};
    run_reduction(op, 1);
  }
};

template <typename T>
class LossOf : public testing::Test {};
using Types = testing::Types<float, Half, BFloat16>;
TYPED_TEST_SUITE(LossOf, Types);

TYPED_TEST(LossOf, IsTheMeanOverTheOutputsAndLeavesThePaddingOut) {
  for (int images : {1, 3, 64, 129, 300}) {
    Batch<TypeParam> batch(images);
    for (int image = 0; image < images; ++image) {
      for (int pad = kOutputs; pad < kLd; ++pad)
        batch.logits.at(image, pad) = Element<TypeParam>::narrow(std::nanf(""));
    }
    batch.run(1);
    double sum = 0;
    for (int image = 0; image < images; ++image) {
      for (int i = 0; i < kOutputs; ++i) sum += exact_loss(batch.biased_logit(image, i), batch.target(image, i));
      for (int pad = kOutputs; pad < kLd; ++pad) ASSERT_EQ(batch.gradient(image, pad), 0);
    }
    const double exact = sum / (images * kOutputs);
    EXPECT_NEAR(static_cast<double>(batch.loss), exact, 1e-6 * exact);
  }
}

TYPED_TEST(LossOf, LeavesIgnoredLabelsOut) {
  Batch<TypeParam> batch(3), known(3);
  batch.targets[5] = batch.targets[20] = kIgnoredLabel;
  batch.run(1);
  known.run(1);
  double sum = 0;
  for (int image = 0; image < 3; ++image) {
    for (int i = 0; i < kOutputs; ++i) {
      const bool is_ignored = batch.target(image, i) < 0;
      EXPECT_EQ(batch.gradient(image, i), is_ignored ? 0 : known.gradient(image, i)) << image << ", " << i;
      if (!is_ignored) sum += exact_loss(batch.biased_logit(image, i), batch.target(image, i));
    }
  }
  EXPECT_NEAR(static_cast<double>(batch.loss), sum / (3 * kOutputs), 1e-6);
}

TYPED_TEST(LossOf, TellsTheLogitsWithTheirBias) {
  Batch<TypeParam> batch(5);
  batch.run(1);
  for (int image = 0; image < 5; ++image) {
    for (int i = 0; i < kOutputs; ++i) {
      ASSERT_NEAR(static_cast<double>(batch.biased[static_cast<std::size_t>(image * kOutputs + i)]),
                  batch.biased_logit(image, i), 1e-6);
    }
  }
}

TYPED_TEST(LossOf, TheBiasHasTheSumOfAnOutputsGradients) {
  Batch<TypeParam> batch(33);
  batch.run(64);
  std::vector<float> gradient(kOutputs);
  run_calls(BiasGradient<TypeParam>{batch.gradient.view().data, gradient.data(), 33, kLd}, kOutputs);
  for (int i = 0; i < kOutputs; ++i) {
    double sum = 0;
    for (int image = 0; image < 33; ++image) sum += batch.gradient(image, i);
    ASSERT_NEAR(static_cast<double>(gradient[static_cast<std::size_t>(i)]), sum, 1e-5);
  }
}

TYPED_TEST(LossOf, GradientIsThatOfTheLossTimesTheScale) {
  const float scale = 1024;
  Batch<TypeParam> batch(16);
  batch.run(scale);
  for (int image = 0; image < 16; ++image) {
    for (int i = 0; i < kOutputs; ++i) {
      const double z = batch.biased_logit(image, i), t = batch.target(image, i), h = 1e-5;
      const double slope = (exact_loss(z + h, t) - exact_loss(z - h, t)) / (2 * h);
      const double exact = slope * static_cast<double>(scale) / (16 * kOutputs);
      ASSERT_NEAR(batch.gradient(image, i), exact, tolerance<TypeParam>() * (0.1 + std::abs(exact)));
    }
  }
}

TEST(Loss, HugeLogitsNeitherOverflowNorLoseTheGradient) {
  for (float z : {-1e4f, -200.0f, 200.0f, 1e4f}) {
    const double exact = std::abs(static_cast<double>(z));
    EXPECT_EQ(static_cast<double>(cross_entropy(z, z > 0 ? 0.0f : 1.0f)), exact);
    EXPECT_EQ(cross_entropy(z, z > 0 ? 1.0f : 0.0f), 0.0f);
    EXPECT_EQ(cross_entropy_gradient(z, 0.0f), z > 0 ? 1.0f : 0.0f);
  }
}

TEST(Loss, NanShows) {
  Batch<float> batch(8);
  batch.logits.at(5, 3) = std::nanf("");
  batch.run(1);
  EXPECT_TRUE(std::isnan(batch.loss));
  EXPECT_TRUE(std::isnan(batch.gradient(5, 3)));
  EXPECT_FALSE(std::isnan(batch.gradient(5, 4)));
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
