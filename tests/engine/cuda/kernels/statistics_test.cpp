// Compares mean, variance and running statistics with a computation in two passes in double.
#include "engine/cuda/kernels/norm_forward.hpp"

#include <cmath>
#include <limits>

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

struct Moments {
  double mean = 0, variance = 0;
};

template <typename T>
Moments moments(const Tensor<T>& x, int channel) {
  Moments m;
  for (int row = 0; row < x.rows(); ++row) m.mean += x(row, channel) / x.rows();
  for (int row = 0; row < x.rows(); ++row)
    m.variance += (x(row, channel) - m.mean) * (x(row, channel) - m.mean) / x.rows();
  return m;
}

struct Found {
  std::vector<float> mean, variance;
};

template <typename T, int V>
Found statistics(const Tensor<T>& x, int most_blocks = 7) {
  Found found{std::vector<float>(static_cast<std::size_t>(x.channels()), -1.0f), {}};
  found.variance = found.mean;
  run_sums(Statistics<T, V>{x.view()},
           StatisticsFinish{static_cast<double>(x.rows()), found.mean.data(), found.variance.data()}, x.rows(),
           x.channels(), most_blocks);
  return found;
}

template <typename T>
void expect_moments(const Tensor<T>& x, const Found& found, double relative) {
  for (int c = 0; c < x.channels(); ++c) {
    const Moments exact = moments(x, c);
    const auto i = static_cast<std::size_t>(c);
    const double mean = static_cast<double>(found.mean[i]), variance = static_cast<double>(found.variance[i]);
    ASSERT_NEAR(mean, exact.mean, 1e-7 * std::abs(exact.mean) + relative * std::sqrt(exact.variance))
        << "channel " << c;
    ASSERT_NEAR(variance, exact.variance, relative * exact.variance) << "channel " << c;
  }
}

template <typename M>
class StatisticsOf : public testing::Test {};
TYPED_TEST_SUITE(StatisticsOf, AllMoves);

TYPED_TEST(StatisticsOf, AnyNumberOfRowsAndChannelsOfASlice) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  for (int rows : {1, 2, 5, 49, 300, 2000}) {
    for (int vectors : {1, 3, 33}) {
      const int channels = vectors * kWidth;
      Tensor<T> x(rows, channels, channels + 2 * kWidth, kWidth);
      x.randomize(static_cast<unsigned>(rows + vectors), 0.5, 2);
      expect_moments(x, statistics<T, kWidth>(x), 2e-6);
    }
  }
}

TYPED_TEST(StatisticsOf, MoreBlocksGiveTheSame) {
  using T = typename TypeParam::Type;
  Tensor<T> x(5000, TypeParam::kWidth);
  x.randomize(3, -1, 0.5);
  for (int most_blocks : {1, 2, 19}) expect_moments(x, statistics<T, TypeParam::kWidth>(x, most_blocks), 2e-6);
}

// With sums of x and x^2 in f32, no digit of the second variance would be left.
TEST(StatisticsInF32, AMeanFarLargerThanTheDeviationCostsFewDigits) {
  for (const auto& [mean, relative] : {std::pair{100.0, 1e-5}, std::pair{-1e4, 1e-3}}) {
    Tensor<float> x(4001, 4);
    x.randomize(9, mean, 0.25);
    expect_moments(x, statistics<float, 4>(x), relative);
  }
}

TEST(StatisticsInF32, AFirstRowThatIsAnOutlierCostsFewDigits) {
  Tensor<float> x(4001, 4);
  x.randomize(10, 0, 1);
  for (int row = 0; row < 128; ++row) x.at(row, 0) = 1000;  // The first row of each thread.
  expect_moments(x, statistics<float, 4>(x), 1e-4);
}

TEST(StatisticsInF32, AConstantChannelHasNoVariance) {
  Tensor<float> x(777, 4);
  x.fill([](int, int c) { return 0.1 + c; });
  const Found found = statistics<float, 4>(x);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(found.mean[c], 0.1f + static_cast<float>(c));
    EXPECT_LT(found.variance[c], 1e-12f);
    EXPECT_GE(found.variance[c], 0.0f);
  }
}

TEST(StatisticsInF32, NanAndInfinityShowInTheirChannelAlone) {
  Tensor<float> x(100, 4);
  x.randomize(4);
  x.at(37, 1) = std::nanf("");
  x.at(99, 2) = std::numeric_limits<float>::infinity();
  const Found found = statistics<float, 4>(x);
  EXPECT_TRUE(std::isnan(found.variance[1]));
  EXPECT_TRUE(std::isnan(found.mean[1]));
  EXPECT_TRUE(std::isnan(found.variance[2]));
  for (std::size_t c : {0u, 3u}) EXPECT_TRUE(std::isfinite(found.mean[c]) && std::isfinite(found.variance[c]));
}

TEST(MomentsOfSums, AreThoseOfTheValuesSummed) {  // The values are 1 2 3 and 5 5 5.
  const float sum[]{6, 15}, squares[]{14, 75};
  float mean[2], variance[2];
  run_calls(MomentsOfSums{sum, squares, {3, mean, variance}}, 2);
  EXPECT_FLOAT_EQ(mean[0], 2);
  EXPECT_FLOAT_EQ(variance[0], 2.0f / 3);
  EXPECT_FLOAT_EQ(mean[1], 5);
  EXPECT_EQ(variance[1], 0);
}

TEST(MomentsOfSums, ComeWithTheInverseDeviationIfThereIsAPlaceForIt) {
  const float sum[]{6, 15}, squares[]{15, 75};
  float mean[2], variance[2], inverse[2];
  run_calls(MomentsOfSums{sum, squares, {3, mean, variance, inverse, 0.25f}}, 2);
  EXPECT_FLOAT_EQ(inverse[0], 1 / std::sqrt(1.25f));
  EXPECT_FLOAT_EQ(inverse[1], 2);
}

TEST(MergedMoments, AreThoseOfAllValues) {  // The values are 1 2 3 and 5 9.
  const Pair merged = merged_moments({2, 2}, 3, {7, 8}, 2.0f / 5);
  EXPECT_FLOAT_EQ(merged.first, 4);
  EXPECT_FLOAT_EQ(merged.second, 9 + 4 + 1 + 1 + 25);
}

// The result is 0.9 of the old value plus 0.1 of the new one, unbiased. Two norms may share a channel's statistics.
TEST(RunningStatistics, FollowTheBatchesAsInPytorch) {
  const std::vector<float> mean{1, 2, 3}, variance{4, 5, 6}, unbias{8.0f / 7, 8.0f / 7, 3.0f / 2, 1};
  const std::vector<int> source{2, 0, 2, 1};
  std::vector<float> running_mean{0, 0, 10, -1}, running_variance{1, 1, 1, 2};
  const RunningUpdate update{mean.data(),   variance.data(),     source.data(),
                             unbias.data(), running_mean.data(), running_variance.data()};
  const std::vector<float> old_mean = running_mean, old_variance = running_variance;
  run_calls(update, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto from = static_cast<std::size_t>(source[i]);
    EXPECT_FLOAT_EQ(running_mean[i], 0.9f * old_mean[i] + 0.1f * mean[from]);
    EXPECT_FLOAT_EQ(running_variance[i], 0.9f * old_variance[i] + 0.1f * variance[from] * unbias[i]);
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
