// How often the rule of compare is wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.hpp"
#include "verbs/compare/compare.hpp"

namespace chexbench::verbs {
namespace {

double normal(RandomStream& stream) {
  const double radius = std::sqrt(-2 * std::log(1 - stream.uniform()));
  return radius * std::cos(2 * std::numbers::pi * stream.uniform());
}

// Returns the share of 300 comparisons with the verdict worse. Each side has six repeats, the true ratio is `truth`,
// and repeats are normally distributed with a standard deviation of `noise` times their mean.
double called_worse(double truth, double noise) {
  constexpr int kComparisons = 300;
  RandomStream stream(5);
  int worse = 0;
  for (int i = 0; i < kComparisons; ++i) {
    std::vector<double> base(6);
    std::vector<double> other(6);
    for (double& value : base) value = 100 * (1 + noise * normal(stream));
    for (double& value : other) value = 100 * truth * (1 + noise * normal(stream));
    worse += judge(measure::unpaired_ratio(other, base), CompareOptions{}.threshold) == Verdict::worse;
  }
  return static_cast<double>(worse) / kComparisons;
}

TEST(Judge, SeldomCriesWolf) {
  EXPECT_LE(called_worse(1, 0.01), 0.005);
  EXPECT_LE(called_worse(1, 0.03), 0.01);
  EXPECT_LE(called_worse(1, 0.10), 0.05);
}

TEST(Judge, SeldomMissesALossOfTenPercent) {
  EXPECT_GE(called_worse(0.9, 0.01), 0.995);
  EXPECT_GE(called_worse(0.9, 0.03), 0.97);
}

}  // namespace
}  // namespace chexbench::verbs
