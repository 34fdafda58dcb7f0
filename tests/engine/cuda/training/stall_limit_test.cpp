#include "engine/cuda/training/stall_limit.hpp"

#include <gtest/gtest.h>

namespace chexbench::engine::cuda {
namespace {

TEST(StallLimit, IsTenMinutesBeforeTheFirstStep) { EXPECT_EQ(StallLimit().seconds(), 600); }

TEST(StallLimit, IsAMinuteForShortSteps) {
  StallLimit limit;
  limit.add(0.1);
  EXPECT_EQ(limit.seconds(), 60);
}

TEST(StallLimit, IsFiftyMedianStepsForLongOnes) {
  StallLimit limit;
  for (const double step_s : {2.0, 100.0, 3.0}) limit.add(step_s);
  EXPECT_EQ(limit.seconds(), 150);
}

TEST(StallLimit, ForgetsOldSteps) {
  StallLimit limit;
  for (int i = 0; i < 100; ++i) limit.add(10);
  for (int i = 0; i < 20; ++i) limit.add(2);
  EXPECT_EQ(limit.seconds(), 100);
}

}  // namespace
}  // namespace chexbench::engine::cuda
