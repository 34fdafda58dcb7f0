#include <gtest/gtest.h>

#include "verbs/diagnose/foreign/trace_logs.hpp"

namespace chexbench::verbs::foreign {
namespace {

TEST(IntervalUnion, CountsWhatOverlapsOnce) {
  IntervalUnion spans;
  EXPECT_TRUE(spans.empty());
  EXPECT_EQ(spans.covered(0, 10), 0);
  spans.add(4, 6);
  spans.add(1, 2);
  spans.add(5, 8);
  spans.add(3, 3);
  EXPECT_EQ(spans.covered(0, 10), 5);
  EXPECT_EQ(spans.covered(5, 7), 2);
  EXPECT_EQ(spans.covered(2, 4), 0);
  EXPECT_EQ(spans.covered(7, 1), 0);
  spans.add(2, 4);
  EXPECT_EQ(spans.covered(0, 10), 7);
}

TEST(IntervalUnion, LeavesOutWhatAnotherCovers) {
  IntervalUnion all, some;
  all.add(0, 10);
  all.add(20, 30);
  some.add(-5, 1);
  some.add(4, 6);
  some.add(9, 22);
  IntervalUnion left = all.without(some);
  EXPECT_EQ(left.covered(0, 100), 3 + 3 + 8);
  EXPECT_EQ(left.covered(4, 6), 0);
  EXPECT_EQ(all.covered(0, 100), 20);
}

TEST(IntervalUnion, JoinsTheNearestWhereThereAreTooMany) {
  IntervalUnion spans;
  const std::size_t number = 2 * IntervalUnion::kMost + 10;
  for (std::size_t i = 0; i < number; ++i) spans.add(10.0 * static_cast<double>(i), 10.0 * static_cast<double>(i) + 9);
  const double all = 10.0 * static_cast<double>(number);
  EXPECT_GE(spans.covered(0, all), 9.0 * static_cast<double>(number));
  EXPECT_LE(spans.covered(0, all), all);
}

}  // namespace
}  // namespace chexbench::verbs::foreign
