#include "engine/cuda/convolution/plan_bench.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace chexbench::engine::cuda {
namespace {

constexpr std::size_t kAll = 1u << 30;

// The sum over rows of one channel of x times one of dy, as in a weight gradient; both repeat their values.
double weight_gradient(const std::vector<float>& x, const std::vector<float>& dy, std::size_t rows,
                       std::size_t channels, std::size_t of_x, std::size_t of_dy) {
  double sum = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t begin = row * channels;
    sum += static_cast<double>(x[(begin + of_x) % x.size()]) * dy[(begin + of_dy) % dy.size()];
  }
  return sum;
}

TEST(BenchValues, LieBetweenMinusOneAndOneAndDiffer) {
  const std::vector<float> values = bench_values<float>(0, kAll);
  EXPECT_GE(std::ranges::min(values), -1);
  EXPECT_LE(std::ranges::max(values), 1);
  EXPECT_GT(std::set<float>(values.begin(), values.end()).size(), values.size() / 2);
}

TEST(BenchValues, AreNoMoreThanAskedFor) { EXPECT_EQ(bench_values<kernels::Half>(3, 5).size(), 5u); }

TEST(BenchValues, AreTheSameEachTime) { EXPECT_EQ(bench_values<float>(2, kAll), bench_values<float>(2, kAll)); }

TEST(BenchValues, NoTwoOperandsHaveTheSamePeriod) {
  std::set<std::size_t> periods;
  for (std::size_t operand = 0; operand < 25; ++operand) periods.insert(bench_values<float>(operand, kAll).size());
  EXPECT_EQ(periods.size(), 25u);
}

// ResNet50's first block at batch 256: 256 x 56 x 56 rows of 64 channels.
TEST(BenchValues, SumsOverTheRowsOfALargeBatchFitIntoHalfPrecision) {
  const std::vector<float> x = bench_values<float>(1, kAll), dy = bench_values<float>(2, kAll);
  for (const auto& [of_x, of_dy] : {std::pair(0, 0), {63, 63}, {5, 40}})
    EXPECT_LT(std::abs(weight_gradient(x, dy, 256 * 56 * 56, 64, of_x, of_dy)), 65504 / 8);
}

}  // namespace
}  // namespace chexbench::engine::cuda
