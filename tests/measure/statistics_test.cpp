#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "core/random.hpp"

namespace chexbench::measure {
namespace {

TEST(Median, IsTheMiddleValueOfAnOddNumber) {
  EXPECT_DOUBLE_EQ(median(std::array{9.0, 1.0, 5.0}), 5.0);
  EXPECT_DOUBLE_EQ(median(std::array{7.5}), 7.5);
}

TEST(Median, IsTheMeanOfTheTwoMiddleValuesOfAnEvenNumber) {
  EXPECT_DOUBLE_EQ(median(std::array{9.0, 1.0, 5.0, 7.0}), 6.0);
  EXPECT_DOUBLE_EQ(median(std::array{2.0, 4.0}), 3.0);
}

TEST(Median, RefusesNoValues) { EXPECT_THROW(median({}), std::invalid_argument); }

TEST(MedianAbsoluteDeviation, IsUnscaled) {
  // The deviations from the median 2 are 1 1 0 0 2 4 7, whose median is 1.
  EXPECT_DOUBLE_EQ(median_absolute_deviation(std::array{1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0}), 1.0);
  EXPECT_EQ(median_absolute_deviation(std::array{3.0, 3.0, 3.0}), 0.0);
}

TEST(BootstrapInterval, IsEmptyUnderFiveValues) {
  const std::vector<double> values{1, 2, 3, 4, 5};
  EXPECT_FALSE(bootstrap_median_ci95({}).has_value());
  EXPECT_FALSE(bootstrap_median_ci95(std::span(values).first(4)).has_value());
  EXPECT_TRUE(bootstrap_median_ci95(values).has_value());
}

// The percentile bootstrap word for word: each resample is ordered, then all medians are.
Interval plain_bootstrap(const std::vector<double>& values, std::uint64_t seed) {
  RandomStream stream(seed);
  std::vector<double> medians(10000), drawn(values.size());
  for (double& middle : medians) {
    for (double& value : drawn) value = values[stream.below(values.size())];
    middle = median(drawn);
  }
  std::ranges::sort(medians);
  return {.low = medians[250], .high = medians[9749]};
}

TEST(BootstrapInterval, IsThatOfOrderingEachResample) {
  const std::vector<std::vector<double>> samples{{3, 1, 2, 5, 4},
                                                 {7, 7, 1, 9, 1, 3},
                                                 {0.1, 0.30, 0.2, 0.7, 0.9, 1e-3, 12},
                                                 {2, 2, 2, 2, 2, 2, 2, 3},
                                                 {4, 4, 4, 4, 4}};
  for (const std::vector<double>& values : samples) {
    const Interval plain = plain_bootstrap(values, 7);
    const std::optional<Interval> interval = bootstrap_median_ci95(values, 7);
    ASSERT_TRUE(interval);
    EXPECT_EQ(interval->low, plain.low);
    EXPECT_EQ(interval->high, plain.high);
  }
}

TEST(BootstrapInterval, OfFiveValuesSpansThemAll) {
  // The median of a resample of five is the smallest value if three or more of the five are that value:
  // sum over k=3..5 of C(5,k) 0.2^k 0.8^(5-k) = 5.8 % > 2.5 %, so the interval's ends are the extremes.
  const auto interval = bootstrap_median_ci95(std::array{30.0, 10.0, 50.0, 20.0, 40.0});
  EXPECT_EQ(interval->low, 10.0);
  EXPECT_EQ(interval->high, 50.0);
}

// Returns a normal deviate by the Box-Muller method, which is good enough for a simulation.
double normal(RandomStream& stream) {
  const double radius = std::sqrt(-2 * std::log(1 - stream.uniform()));
  return radius * std::cos(2 * std::numbers::pi * stream.uniform());
}

// Returns how often, in `trials` simulations, the interval of `size` normal values contains their true median.
double coverage(std::size_t size, int trials) {
  RandomStream stream(20191);
  int covered = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(size);
    for (double& value : values) value = 100 + normal(stream);
    const auto interval = bootstrap_median_ci95(values, stream.next());
    covered += interval->low <= 100 && 100 <= interval->high;
  }
  return static_cast<double>(covered) / trials;
}

TEST(BootstrapInterval, CoversTheTrueMedianAboutAsOftenAsItSays) {
  // In 200 simulations, a true coverage of 95 % appears as 0.90 to 0.99 with a probability of more than 99.9 %. The
  // percentile interval of a median of few values errs on the low side, hence the lower bound.
  for (const std::size_t size : {6u, 12u}) {
    const double share = coverage(size, 200);
    EXPECT_GE(share, 0.88) << size << " values";
    EXPECT_LE(share, 0.995) << size << " values";
  }
}

TEST(PairedRatio, IsTheRatioOfMedians) {
  EXPECT_DOUBLE_EQ(paired_ratio(std::array{6.0, 8.0, 10.0}, std::array{2.0, 4.0, 3.0}).value, 8.0 / 3.0);
}

TEST(PairedRatio, HasNoIntervalUnderFiveRounds) {
  const std::array values{1.0, 2.0, 3.0, 4.0};
  EXPECT_FALSE(paired_ratio(values, values).ci95.has_value());
}

TEST(PairedRatio, IsNotMovedByADriftThatBothArmsShare) {
  // The machine slows down to half its speed over the rounds, but b is always twice a, so the interval of paired
  // ratios is a point.
  const std::vector<double> a{100, 90, 80, 70, 60, 50};
  std::vector<double> b;
  for (const double value : a) b.push_back(2 * value);
  const Ratio ratio = paired_ratio(b, a);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.ci95->low, 2);
  EXPECT_DOUBLE_EQ(ratio.ci95->high, 2);
}

TEST(PairedRatio, RefusesArmsOfUnlikeLength) {
  EXPECT_THROW(paired_ratio(std::array{1.0, 2.0}, std::array{1.0}), std::invalid_argument);
  EXPECT_THROW(paired_ratio({}, {}), std::invalid_argument);
}

TEST(UnpairedRatio, IsTheRatioOfMediansOfUnlikeManyValues) {
  EXPECT_DOUBLE_EQ(unpaired_ratio(std::array{6.0, 8.0, 10.0}, std::array{2.0, 6.0}).value, 2);
}

TEST(UnpairedRatio, HasNoIntervalWhereEitherSideHasUnderFiveValues) {
  const std::array few{1.0, 2.0, 3.0, 4.0};
  const std::array many{1.0, 2.0, 3.0, 4.0, 5.0};
  EXPECT_FALSE(unpaired_ratio(few, many).ci95.has_value());
  EXPECT_FALSE(unpaired_ratio(many, few).ci95.has_value());
  EXPECT_TRUE(unpaired_ratio(many, many).ci95.has_value());
}

TEST(UnpairedRatio, IsWiderThanThePairedOneWhereBothDriftAlike) {
  const std::vector<double> values{100, 90, 80, 70, 60, 50};
  const Ratio ratio = unpaired_ratio(values, values);
  EXPECT_LT(ratio.ci95->low, 0.9);
  EXPECT_GT(ratio.ci95->high, 1.1);
}

TEST(UnpairedRatio, RefusesNoValues) {
  EXPECT_THROW(unpaired_ratio({}, std::array{1.0}), std::invalid_argument);
  EXPECT_THROW(unpaired_ratio(std::array{1.0}, {}), std::invalid_argument);
}

TEST(SignTest, CountsTheRoundsThatAgree) {
  const std::array five{2.0, 2.0, 2.0, 2.0, 2.0}, ones{1.0, 1.0, 1.0, 1.0, 1.0};
  EXPECT_NEAR(sign_test(five, ones), 2.0 / 32, 1e-12);
  EXPECT_NEAR(sign_test(ones, five), 2.0 / 32, 1e-12);
  const std::array mixed{2.0, 2.0, 2.0, 0.5, 2.0};
  EXPECT_NEAR(sign_test(mixed, ones), 2.0 * (1 + 5) / 32, 1e-12);
  EXPECT_DOUBLE_EQ(sign_test(ones, ones), 1);
  const std::array nine_of_ten{2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 0.5};
  EXPECT_NEAR(sign_test(nine_of_ten, std::vector<double>(10, 1.0)), 2.0 * (1 + 10) / 1024, 1e-12);
}

TEST(Ratios, OfRatesThatAreNothingHaveNoInterval) {
  const std::array some{1.0, 2.0, 3.0, 4.0, 0.0}, none{0.0, 0.0, 0.0, 0.0, 0.0};
  EXPECT_FALSE(paired_ratio(none, none, 1).ci95);
  EXPECT_FALSE(unpaired_ratio(none, none, 1).ci95);
  EXPECT_TRUE(paired_ratio(some, std::array{1.0, 1.0, 1.0, 1.0, 1.0}, 1).ci95);
}

TEST(SignTest, HoldsForThousandsOfRounds) {
  std::vector<double> mostly_larger(4000, 2.0);
  std::fill_n(mostly_larger.begin(), 1900, 0.5);
  // (1900.5 - 2000) / sqrt(1000) = -3.146 of the normal distribution, twice
  EXPECT_NEAR(sign_test(mostly_larger, std::vector<double>(4000, 1.0)), 0.00165, 0.00002);
}

TEST(SignTest, RefusesUnlikeNumbersOfRounds) {
  EXPECT_THROW(sign_test(std::array{1.0, 2.0}, std::array{1.0}), std::invalid_argument);
}

}  // namespace
}  // namespace chexbench::measure
