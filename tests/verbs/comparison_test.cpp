#include "verbs/selftest/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Comparison, HoldsWhereTheWorstIsAllowed) {
  Comparison comparison("logits", 1e-3);
  EXPECT_TRUE(comparison.holds());
  comparison.add(1e-3, "[0]");
  comparison.add(1e-5, "[1]");
  EXPECT_TRUE(comparison.holds());
  comparison.add(2e-3, "[2]");
  EXPECT_FALSE(comparison.holds());
  EXPECT_THAT(comparison.text(), HasSubstr("2.0e-03 of 1e-03  worst at [2]"));
}

TEST(Comparison, NeverForgetsNotANumber) {
  Comparison comparison("logits", 1e-3);
  comparison.add(kNan, "[0]");
  comparison.add(0, "[1]");
  EXPECT_FALSE(comparison.holds());
  EXPECT_THAT(comparison.text(), HasSubstr("inf of 1e-03  worst at [0]"));
}

TEST(Comparison, ByTheMedianForgivesTheFew) {
  Comparison comparison("entries", 1e-3, Comparison::By::median);
  for (const double deviation : {0.0, 5.0, 1e-4, 1e-4, 2e-4}) comparison.add(deviation, "conv1");
  EXPECT_TRUE(comparison.holds());
  EXPECT_THAT(comparison.text(), HasSubstr("1.0e-04 of 1e-03  worst 5.0e+00 at conv1"));
}

TEST(Comparison, ByTheMedianCountsNotANumberAsFar) {
  Comparison comparison("entries", 1e-3, Comparison::By::median);
  for (const double deviation : {kNan, kNan, 1e-4, kNan}) comparison.add(deviation, "conv1");
  EXPECT_FALSE(comparison.holds());
}

}  // namespace
}  // namespace chexbench::verbs
