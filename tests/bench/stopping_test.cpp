#include <gtest/gtest.h>

#include "bench/stopping.hpp"

namespace chexbench::bench {
namespace {

const std::vector<double> kSteady(6, 100.0);
const std::vector<double> kNoisy = {50, 100, 150, 60, 140, 100};

TEST(Stopping, EndsAfterTheRepeatsAskedFor) {
  const spec::MeasureSpec measure{.repeats = 3};
  EXPECT_FALSE(is_finished(measure, {1, 1}, 1e9));
  EXPECT_TRUE(is_finished(measure, {1, 1, 1}, 0));
}

TEST(Stopping, EndsEarlyWhenTheTimeIsUsedUpButNeverWithoutAResult) {
  const spec::MeasureSpec measure{.repeats = 100, .max_seconds = 10};
  EXPECT_FALSE(is_finished(measure, {}, 11));
  EXPECT_FALSE(is_finished(measure, {1}, 9));
  EXPECT_TRUE(is_finished(measure, {1}, 10));
}

TEST(Stopping, EndsEarlyWhenTheIntervalIsNarrowEnough) {
  const spec::MeasureSpec measure{.repeats = 100, .relative_error = 0.05};
  EXPECT_TRUE(is_finished(measure, kSteady, 0));
  EXPECT_FALSE(is_finished(measure, kNoisy, 0));
}

TEST(Stopping, NeedsFiveRepeatsForARelativeError) {
  const spec::MeasureSpec measure{.repeats = 100, .relative_error = 0.05};
  EXPECT_FALSE(is_finished(measure, {100, 100, 100, 100}, 0));
  EXPECT_TRUE(is_finished(measure, {100, 100, 100, 100, 100}, 0));
}

TEST(Stopping, CallsATrialCutShortIfTimeEndedIt) {
  EXPECT_TRUE(is_cut_short({.repeats = 5, .max_seconds = 10}, {1, 1, 1}));
  EXPECT_FALSE(is_cut_short({.repeats = 3, .max_seconds = 10}, {1, 1, 1}));
  EXPECT_FALSE(is_cut_short({.repeats = 100, .max_seconds = 10, .relative_error = 0.05}, kSteady));
}

TEST(Stopping, CallsATrialUnstableWhoseRepeatsDiffer) {
  EXPECT_TRUE(is_unstable({.repeats = 6}, kNoisy));
  EXPECT_TRUE(is_unstable({.repeats = 6}, {244, 245, 243, 244, 165, 244})) << "one is far from the others";
  EXPECT_TRUE(is_unstable({.repeats = 2}, {100, 140}));
  EXPECT_FALSE(is_unstable({.repeats = 6}, {100, 103, 98, 101, 99, 100}));
  EXPECT_FALSE(is_unstable({.repeats = 1}, {100}));
}

TEST(Stopping, CallsATrialUnstableThatMissedTheErrorItAskedFor) {
  EXPECT_TRUE(is_unstable({.repeats = 6, .relative_error = 0.05}, kNoisy));
  EXPECT_FALSE(is_unstable({.repeats = 6, .relative_error = 0.05}, kSteady));
}

}  // namespace
}  // namespace chexbench::bench
