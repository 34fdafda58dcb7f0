// Compares dropout with the masks that all engines share.
#include "engine/cuda/kernels/elementwise.hpp"

#include <cmath>
#include <limits>

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

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

template <typename M>
class DropoutOf : public testing::Test {};
TYPED_TEST_SUITE(DropoutOf, AllMoves);

TYPED_TEST(DropoutOf, MultipliesByTheMaskOfTheImage) {
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

TYPED_TEST(DropoutOf, CountsTheValuesOfAMapChannelByChannel) {
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

TYPED_TEST(DropoutOf, CountsBatchesAlsoOfStepsWhoseUpdateWasLeftOut) {
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

TYPED_TEST(DropoutOf, ShowsNotANumberWhereItDropsOne) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  Tensor<T> from(kImages, 8 * kWidth);
  from.fill([](int, int) { return std::numeric_limits<double>::quiet_NaN(); });
  const Tensor<T> to = dropped<T, kWidth>(from, {});
  for (int c = 0; c < 8 * kWidth; ++c) EXPECT_TRUE(std::isnan(to(1, c)));
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
