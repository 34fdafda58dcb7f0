#include "engine/cuda/training/stall_limit.hpp"

#include <gtest/gtest.h>

namespace chexbench::engine::cuda {
namespace {

constexpr double kLeast_s = 60;

TEST(StallLimit, IsTenTimesTheLeastBeforeTheFirstStep) { EXPECT_EQ(StallLimit(kLeast_s).seconds(), 600); }

TEST(StallLimit, IsTheLeastForShortSteps) {
  StallLimit limit(kLeast_s);
  limit.add(0.1);
  EXPECT_EQ(limit.seconds(), 60);
}

TEST(StallLimit, IsFiftyMedianStepsForLongOnes) {
  StallLimit limit(kLeast_s);
  for (const double step_s : {2.0, 100.0, 3.0}) limit.add(step_s);
  EXPECT_EQ(limit.seconds(), 150);
}

TEST(StallLimit, ForgetsOldSteps) {
  StallLimit limit(kLeast_s);
  for (int i = 0; i < 100; ++i) limit.add(10);
  for (int i = 0; i < 20; ++i) limit.add(2);
  EXPECT_EQ(limit.seconds(), 100);
}

}  // namespace
}  // namespace chexbench::engine::cuda
