#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cuda/training/step_clock.hpp"

namespace chexbench::engine::cuda {
namespace {

// The device begins at begin_s and takes 1 s for forward, 2 s for backward, 0.5 s for the rest of the reduction and
// 0.25 s for the update.
StepMarks marks(double upload_begin_s, double upload_end_s, double begin_s) {
  return {.upload_begin_s = upload_begin_s,
          .upload_end_s = upload_end_s,
          .begin_s = begin_s,
          .forward_end_s = begin_s + 1,
          .backward_end_s = begin_s + 3,
          .reduced_s = begin_s + 3.5,
          .end_s = begin_s + 3.75};
}

struct Idle {
  double wait_s = 0, upload_s = 0, other_s = 0;
};

void expect(const StepMarks& marks, const Idle& idle) {
  const measure::StepTimings timings = timings_of(marks);
  EXPECT_DOUBLE_EQ(timings.wait_s, idle.wait_s);
  EXPECT_DOUBLE_EQ(timings.upload_s, idle.upload_s);
  EXPECT_DOUBLE_EQ(timings.other_s, idle.other_s);
}

TEST(StepClock, SaysWhereTheDeviceWorked) {
  const measure::StepTimings timings = timings_of(marks(0, 0, 0));
  EXPECT_EQ(timings.wall_s, 3.75);
  EXPECT_EQ(timings.forward_s, 1);
  EXPECT_EQ(timings.backward_s, 2);
  EXPECT_EQ(timings.compute_s, 3);
  EXPECT_EQ(timings.exposed_communication_s, 0.5);
  EXPECT_EQ(timings.update_s, 0.25);
}

TEST(StepClock, AnUploadBesideTheStepBeforeCostsNothing) { expect(marks(-2, -1, 0), {}); }

TEST(StepClock, AnUploadAcrossTheEndOfTheStepBeforeCostsWhatIsBehindIt) {
  expect(marks(-2, 0.5, 0.5), {.upload_s = 0.5});
}

TEST(StepClock, ABatchThatComesLateIsWaitedForAndThenUploaded) {
  expect(marks(2, 2.5, 2.5), {.wait_s = 2, .upload_s = 0.5});
}

TEST(StepClock, WhatTheHostIsLateIsOther) {
  expect(marks(-2, -1, 0.5), {.other_s = 0.5});
  expect(marks(-2, 0.25, 1), {.upload_s = 0.25, .other_s = 0.75});
  expect(marks(0.5, 0.75, 1), {.wait_s = 0.5, .upload_s = 0.25, .other_s = 0.25});
}

// Events of two streams can be compared only within their resolution.
TEST(StepClock, IdleTimeEndsWithTheBeginOfTheStepEvenIfTheUploadSeemsToEndLater) {
  expect(marks(0.5, 1.25, 1), {.wait_s = 0.5, .upload_s = 0.5});
  expect(marks(1.25, 1.5, 1), {.wait_s = 1});
  expect(marks(-1, 0.5, 0), {});
}

TEST(StepClock, ThePartsSumToTheWallTimeAndNoneIsNegative) {
  for (const double upload_begin_s : {-3.1, -0.1, 0.0, 0.3, 1.7}) {
    for (const double upload_s : {0.0, 0.05, 0.7, 3.3}) {
      for (const double begin_s : {0.0, 0.1, 0.9, 5.7}) {
        const measure::StepTimings timings = timings_of(marks(upload_begin_s, upload_begin_s + upload_s, begin_s));
        const double parts[] = {timings.wait_s, timings.upload_s, timings.compute_s, timings.exposed_communication_s,
                                timings.update_s};
        double sum = timings.other_s;
        for (const double part : parts) sum += part;
        EXPECT_GE(std::ranges::min(parts), 0);
        EXPECT_GE(timings.other_s, -1e-12);  // A difference of sums.
        EXPECT_NEAR(sum, timings.wall_s, 1e-12);
        EXPECT_NEAR(timings.wait_s + timings.upload_s + timings.other_s, begin_s, 1e-12);
      }
    }
  }
}

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
