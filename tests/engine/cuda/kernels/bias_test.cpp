// Compares bias and activation with their formulas in double.
#include "engine/cuda/kernels/elementwise.hpp"

#include <cmath>
#include <limits>

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Clamp kRelu6{0, 6}, kNone{-kInfinity, kInfinity};

template <typename M>
class BiasOf : public testing::Test {};
TYPED_TEST_SUITE(BiasOf, AllMoves);

TYPED_TEST(BiasOf, IsAddedBeforeTheActivation) {
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

TYPED_TEST(BiasOf, GradientIsTheSumOfWhatPassedTheActivation) {
  for (const int rows : {1, 7, 300}) {
    expect_backward<typename TypeParam::Type, TypeParam::kWidth, true>(rows);
    expect_backward<typename TypeParam::Type, TypeParam::kWidth, false>(rows);
  }
}

TYPED_TEST(BiasOf, ShowsNotANumber) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  const std::vector<float> bias(kWidth, 1.0f);
  Tensor<T> x(1, kWidth), y(1, kWidth);
  x.fill([](int, int) { return std::nan(""); });
  run_channels(Bias<T, kWidth>{std::as_const(x).view(), y.view(), bias.data(), kRelu6}, 1, kWidth, kWidth);
  EXPECT_TRUE(std::isnan(y(0, 0)));
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
