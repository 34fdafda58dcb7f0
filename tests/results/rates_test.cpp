#include "results/rates.hpp"

#include <gtest/gtest.h>

namespace chexbench::results {
namespace {

// Two cores for ten seconds.
RepeatResult disturbed_by(Disturbance by) {
  by.core_s = 20;
  by.span_s = 10;
  RepeatResult repeat;
  repeat.disturbance = by;
  return repeat;
}

TEST(DisturbedShare, IsWhatOthersTookAsFarAsThreadsWaitedForIt) {
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed_by({.others_s = 5, .own_cpu_s = 15, .own_wait_s = 5})), 0.25);
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed_by({.others_s = 5, .own_cpu_s = 15})), 0);  // those cores were idle
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed_by({.others_s = 0, .own_cpu_s = 15, .own_wait_s = 5})), 0);
}

TEST(DisturbedShare, AddsCoreTimeOfAHypervisorAndTimeOfMemory) {
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed_by({.steal_s = 2, .own_cpu_s = 18, .memory_stall_s = 1})), 0.1 + 0.1);
}

TEST(DisturbedShare, LeavesOutWhatACpuLimitTook) {
  // Both cores are stopped for a tenth of the time, while processes outside of the limit use them.
  EXPECT_EQ(disturbed_share(disturbed_by({.others_s = 2, .own_cpu_s = 18, .own_wait_s = 2, .throttled_s = 2})), 0);
  // Threads waited longer than the limit stopped them: the rest was taken by other processes.
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed_by({.others_s = 9, .own_cpu_s = 18, .own_wait_s = 4, .throttled_s = 2})),
                   0.1);
}

TEST(DisturbedShare, SubtractsALimitOnceHoweverManyRanksCountIt) {
  RepeatResult repeat =
      disturbed_by({.others_s = 8, .own_cpu_s = 12, .own_wait_s = 9, .throttled_s = 8});  // 8 ranks count 1 s each
  for (int rank = 0; rank < 8; ++rank) repeat.steps.push_back({.rank = rank});
  EXPECT_DOUBLE_EQ(disturbed_share(repeat), 0.4);
}

TEST(DisturbedShare, IsAtMostAll) {
  EXPECT_EQ(disturbed_share(
                disturbed_by({.others_s = 10, .steal_s = 10, .own_cpu_s = 1, .own_wait_s = 20, .memory_stall_s = 10})),
            1);
}

TEST(LimitedShare, CountsALimitOnceHoweverManyCoresAndRanksItStops) {
  // Both cores of one rank are stopped for a tenth of the time.
  EXPECT_DOUBLE_EQ(limited_share(disturbed_by({.own_cpu_s = 18, .own_wait_s = 2, .throttled_s = 2})), 0.1);
  // Two ranks with one core each in one cgroup: each counts both cores.
  EXPECT_DOUBLE_EQ(limited_share(disturbed_by({.own_cpu_s = 18, .own_wait_s = 2, .throttled_s = 4})), 0.1);
}

TEST(LimitedShare, OfATrialIsTheMedianOfItsRepeats) {
  TrialResult trial;
  EXPECT_EQ(limited_share(trial), 0);
  for (const double throttled_s : {2.0, 2.0, 18.0})
    trial.repeats.push_back(disturbed_by({.own_cpu_s = 18, .own_wait_s = throttled_s, .throttled_s = throttled_s}));
  EXPECT_DOUBLE_EQ(limited_share(trial), 0.1);
}

TEST(DisturbedShare, AddsCoresThatTheRankLost) {
  EXPECT_DOUBLE_EQ(disturbed_share(disturbed_by({.own_cpu_s = 10, .lost_core_s = 10})), 0.5);
  EXPECT_TRUE(is_disturbed(disturbed_by({.own_cpu_s = 19, .lost_core_s = 1}))) << "however few";
  EXPECT_FALSE(is_disturbed(disturbed_by({.own_cpu_s = 20})));
  RepeatResult shares_cores;  // with other ranks, for which nothing else is measured
  shares_cores.disturbance.lost_core_s = 1;
  EXPECT_TRUE(is_disturbed(shares_cores));
}

TEST(DisturbedShare, OfNothingMeasuredIsNothing) { EXPECT_EQ(disturbed_share(RepeatResult{}), 0); }

}  // namespace
}  // namespace chexbench::results
