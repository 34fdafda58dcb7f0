#include "core/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace chexbench {
namespace {

TEST(Now, NeverRunsBackwards) {
  double before_s = now_s();
  for (int i = 0; i < 1000; ++i) {
    const double after_s = now_s();
    ASSERT_GE(after_s, before_s);
    before_s = after_s;
  }
}

TEST(SleepUntil, WakesAtTheDeadlineOrLaterNeverEarlier) {
  const double deadline_s = now_s() + 0.01;
  sleep_until_s(deadline_s);
  EXPECT_GE(now_s(), deadline_s - 1e-9);
}

TEST(SleepUntil, ReturnsAtOnceWhereTheDeadlineHasPassed) {
  const double before_s = now_s();
  sleep_until_s(before_s - 100);
  EXPECT_LT(now_s() - before_s, 50);
}

TEST(ThreadCpu, CountsWorkAndNotSleep) {
  const Stopwatch sleeping;
  sleep_until_s(now_s() + 0.05);
  EXPECT_GE(sleeping.wall_s(), 0.05 - 1e-9);
  EXPECT_LT(sleeping.cpu_s(), sleeping.wall_s() / 2);

  const double start_s = thread_cpu_s();
  volatile double sink = 0;
  for (int i = 0; i < 2'000'000; ++i) sink = sink + std::sqrt(i);
  EXPECT_GT(thread_cpu_s(), start_s);
}

}  // namespace
}  // namespace chexbench
