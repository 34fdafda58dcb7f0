// Copies, sums, bias with activation, and dropout, compared with their formulas in double.
#include "engine/cuda/kernels/elementwise.hpp"

#include <cmath>
#include <limits>

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename M>
class Elementwise : public testing::Test {};
TYPED_TEST_SUITE(Elementwise, AllMoves);

TYPED_TEST(Elementwise, CopiesAndSumsOfSlicesWriteNothingElse) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth, kChannels = 3 * kWidth;
  for (const int rows : {1, 7, 300}) {
    Tensor<T> from(rows, kChannels, kChannels + kWidth, kWidth), sum(rows, kChannels, 2 * kChannels);
    Tensor<T> copy(rows, kChannels, kChannels + 2 * kWidth, kWidth);
    from.randomize(1);
    sum.randomize(2);
    const Tensor<T> before = sum;
    run_channels(Copy<T, kWidth>{std::as_const(from).view(), copy.view()}, rows, kChannels, kWidth);
    run_channels(Add<T, kWidth>{std::as_const(from).view(), sum.view()}, rows, kChannels, kWidth);
    for (int row = 0; row < rows; ++row) {
      for (int c = 0; c < kChannels; ++c) {
        ASSERT_EQ(copy(row, c), from(row, c));
        const double exact = from(row, c) + before(row, c);
        ASSERT_NEAR(sum(row, c), exact, tolerance<T>() * (0.01 + std::abs(exact)));
      }
    }
    copy.expect_guards_untouched();
    sum.expect_guards_untouched();
  }
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Clamp kRelu6{0, 6}, kNone{-kInfinity, kInfinity};

TYPED_TEST(Elementwise, ABiasIsAddedBeforeTheActivation) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth, kChannels = 3 * kWidth;
  const std::vector<float> bias = random_values(kChannels, 1, -3, 3);
  for (const Clamp clamp : {kRelu6, kNone}) {
    for (const int rows : {1, 7, 300}) {
      Tensor<T> x(rows, kChannels, kChannels + kWidth, kWidth), y(rows, kChannels, 2 * kChannels);
      x.randomize(2, 1, 4);
      run_channels(Bias<T, kWidth>{std::as_const(x).view(), y.view(), bias.data(), clamp}, rows, kChannels, kWidth);
      for (int row = 0; row < rows; ++row) {
        for (int c = 0; c < kChannels; ++c) {
          const double sum = x(row, c) + static_cast<double>(bias[static_cast<std::size_t>(c)]);
          const double exact = std::min(std::max(sum, double{clamp.low}), double{clamp.high});
          ASSERT_NEAR(y(row, c), exact, tolerance<T>() * (0.01 + std::abs(exact)));
        }
      }
      y.expect_guards_untouched();
    }
  }
}

template <typename T, int V, bool kOutput>
void expect_backward(int rows) {
  constexpr int kChannels = 3 * V;
  Tensor<T> y(rows, kChannels, kChannels + V), dy(rows, kChannels, kChannels + V, V),
      dx(rows, kChannels, 2 * kChannels);
  // The output of an activation: some values are cut off at either end.
  y.randomize(1, 3, 4).fill([&](int row, int c) { return std::min(std::max(y(row, c), 0.0), 6.0); });
  dy.randomize(2);
  std::vector<float> gradient(kChannels, 1e30f);
  const BiasBackward<T, V, kOutput> op{std::as_const(y).view(), std::as_const(dy).view(), dx.view(), kRelu6};
  run_sums(op, BiasFinish{gradient.data()}, rows, kChannels);
  for (int c = 0; c < kChannels; ++c) {
    double sum = 0;
    for (int row = 0; row < rows; ++row) {
      const bool passes = !kOutput || (y(row, c) > 0 && y(row, c) < 6);
      ASSERT_EQ(dx(row, c), passes ? dy(row, c) : 0);
      sum += dx(row, c);
    }
    ASSERT_NEAR(gradient[static_cast<std::size_t>(c)], sum, 1e-6 * rows);
  }
  dx.expect_guards_untouched();
}

TYPED_TEST(Elementwise, TheGradientOfABiasIsTheSumOfWhatPassedTheActivation) {
  for (const int rows : {1, 7, 300}) {
    expect_backward<typename TypeParam::Type, TypeParam::kWidth, true>(rows);
    expect_backward<typename TypeParam::Type, TypeParam::kWidth, false>(rows);
  }
}

TYPED_TEST(Elementwise, AnActivationShowsNotANumber) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  const std::vector<float> bias(kWidth, 1.0f);
  Tensor<T> x(1, kWidth), y(1, kWidth);
  x.fill([](int, int) { return std::nan(""); });
  run_channels(Bias<T, kWidth>{std::as_const(x).view(), y.view(), bias.data(), kRelu6}, 1, kWidth, kWidth);
  EXPECT_TRUE(std::isnan(y(0, 0)));
}

constexpr std::uint64_t kSeed = 11;
constexpr int kLayer = 3, kImages = 5;
constexpr double kRate = 0.2;

// Drops into rows wider than needed, in the batch that follows the updates, made or skipped, of `scalars`.
template <typename T, int V>
Tensor<T> dropped(const Tensor<T>& from, const StepScalars& scalars, int pixels = 1, int batches_of_step = 1) {
  Tensor<T> to(from.rows(), from.channels(), from.channels() + V);
  const Dropout<T, V> op{from.view(), to.view(), &scalars, kSeed, kLayer, kRate, pixels, batches_of_step};
  run_channels(op, from.rows(), from.channels(), V);
  to.expect_guards_untouched();
  return to;
}

TYPED_TEST(Elementwise, DropoutMultipliesByTheMaskOfTheImage) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  for (const int channels : {kWidth, 50 * kWidth}) {
    Tensor<T> from(kImages, channels, channels + 2 * kWidth, kWidth);
    from.randomize(1);
    const Tensor<T> to = dropped<T, kWidth>(from, {});
    for (int image = 0; image < kImages; ++image) {
      const DropoutMask mask(dropout_batch_seed(kSeed, 0), kLayer, image, kRate);
      for (int c = 0; c < channels; ++c) {
        const double exact = from(image, c) * static_cast<double>(mask.factor(c));
        ASSERT_NEAR(to(image, c), exact, tolerance<T>() * std::abs(exact));
      }
    }
  }
}

TYPED_TEST(Elementwise, DropoutCountsTheValuesOfAMapChannelByChannel) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth, kChannels = 3 * kWidth, kPixels = 6;
  Tensor<T> ones(kImages * kPixels, kChannels);
  ones.fill([](int, int) { return 1; });
  const Tensor<T> to = dropped<T, kWidth>(ones, {}, kPixels);
  for (int row = 0; row < to.rows(); ++row) {
    const DropoutMask mask(dropout_batch_seed(kSeed, 0), kLayer, row / kPixels, kRate);
    for (int c = 0; c < kChannels; ++c)
      ASSERT_NEAR(to(row, c), static_cast<double>(mask.factor(c * kPixels + row % kPixels)), 2 * tolerance<T>());
  }
}

TYPED_TEST(Elementwise, DropoutCountsBatchesAlsoOfStepsWhoseUpdateWasLeftOut) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth, kChannels = 50 * kWidth;
  Tensor<T> ones(kImages, kChannels);
  ones.fill([](int, int) { return 1; });
  const auto of = [&](const StepScalars& scalars, int batches_of_step = 1) {
    const Tensor<T> to = dropped<T, kWidth>(ones, scalars, 1, batches_of_step);
    std::vector<double> values;
    for (int c = 0; c < kChannels; ++c) values.push_back(to(0, c));
    return values;
  };
  EXPECT_EQ(of({.skipped = 2, .step = 1}), of({.step = 3}));
  EXPECT_NE(of({.step = 3}), of({.step = 4}));
  EXPECT_EQ(of({.skipped = 1, .step = 2, .batches = 2}, 4), of({.step = 14}));
}

TYPED_TEST(Elementwise, DropoutShowsNotANumberWhereItDropsOne) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  Tensor<T> from(kImages, 8 * kWidth);
  from.fill([](int, int) { return std::numeric_limits<double>::quiet_NaN(); });
  const Tensor<T> to = dropped<T, kWidth>(from, {});
  for (int c = 0; c < 8 * kWidth; ++c) EXPECT_TRUE(std::isnan(to(1, c)));
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
