#include "kernel_time/kernel_tally.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace chexbench::measure {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t kSecond = 1'000'000'000;

KernelTally tally(std::uint64_t skipped) { return KernelTally({.step_kernel = "Upload", .skipped_steps = skipped}); }

// A step of 10 s: 1 s of upload, two convolutions that overlap and cover 6 s, a memset, and a copy that runs in
// parallel.
void run_step(KernelTally& tally, std::uint64_t begin_s) {
  const std::uint64_t begin = begin_s * kSecond;
  tally.kernel("runUpload", begin, begin + kSecond);
  tally.kernel("conv_a", begin + 2 * kSecond, begin + 6 * kSecond);
  tally.kernel("conv_b", begin + 3 * kSecond, begin + 8 * kSecond);
  tally.copy(begin, begin + 3 * kSecond);
  tally.memset(begin + 8 * kSecond, begin + 9 * kSecond);
}

TEST(KernelTally, CountsFromTheFirstStepAfterWarmUpToTheBeginOfTheLast) {
  KernelTally timed = tally(2);
  timed.kernel("tuning", 1, 4 * kSecond);
  for (const std::uint64_t begin_s : {10, 20, 30, 40, 50}) run_step(timed, begin_s);
  timed.kernel("after", 90 * kSecond, 99 * kSecond);
  const KernelTimes times = timed.times();
  EXPECT_EQ(times.problem, "");
  EXPECT_EQ(times.steps, 2u);
  EXPECT_DOUBLE_EQ(times.window_s, 20);
  EXPECT_DOUBLE_EQ(times.kernel_s, 14);
  EXPECT_EQ(times.kernels, 6u);
  EXPECT_EQ(times.copies.count, 2u);
  EXPECT_DOUBLE_EQ(times.copies.time_s, 6);
  EXPECT_EQ(times.memsets.count, 2u);
  EXPECT_DOUBLE_EQ(times.memsets.time_s, 2);
  EXPECT_TRUE(times.exact);
}

TEST(KernelTally, NamesTheCostliestFirst) {
  KernelTally timed({.step_kernel = "Upload", .skipped_steps = 0, .listed_names = 2});
  run_step(timed, 10);
  run_step(timed, 20);
  EXPECT_THAT(timed.times().costliest,
              ElementsAre(Field(&OperationTime::name, "conv_a"), Field(&OperationTime::name, "conv_b")));
}

TEST(KernelTally, AKernelThatWaitsForAnotherOneOwnsTheTimeAfterIt) {
  KernelTally timed({.step_kernel = "Upload", .skipped_steps = 0, .listed_names = 4});
  timed.kernel("runUpload", 10 * kSecond, 11 * kSecond);
  timed.kernel("long", 11 * kSecond, 17 * kSecond);
  timed.kernel("waits", 12 * kSecond, 19 * kSecond);
  timed.kernel("hidden", 13 * kSecond, 14 * kSecond);
  timed.kernel("runUpload", 20 * kSecond, 21 * kSecond);
  const KernelTimes times = timed.times();
  const auto took = [&](double time_s, double own_s) {
    return AllOf(Field(&OperationTime::time_s, DoubleEq(time_s)), Field(&OperationTime::own_s, DoubleEq(own_s)));
  };
  EXPECT_THAT(times.costliest, ElementsAre(took(6, 6), took(7, 2), took(1, 1), took(1, 0)));
  EXPECT_DOUBLE_EQ(times.kernel_s, 9);
}

TEST(KernelTally, CutsWhatRunsAcrossTheEndsOfTheWindow) {
  KernelTally timed = tally(0);
  timed.kernel("before", 5 * kSecond, 12 * kSecond);
  for (const std::uint64_t begin_s : {10, 20}) timed.kernel("runUpload", begin_s * kSecond, (begin_s + 1) * kSecond);
  timed.kernel("across", 19 * kSecond, 30 * kSecond);
  const KernelTimes times = timed.times();
  EXPECT_DOUBLE_EQ(times.kernel_s, 2 + 1);
  EXPECT_EQ(times.kernels, 2u);
}

// Compares with a count of the covered nanoseconds. Some kernels are empty, and all are shuffled.
TEST(KernelTally, CoversTheSameInAnyOrder) {
  std::mt19937 random(7);
  std::vector<bool> covered(20'000);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;
  for (std::uint64_t begin = 1; begin + 40 < covered.size(); begin += random() % 12) {
    intervals.emplace_back(begin, begin + random() % 9);
    std::fill(covered.begin() + static_cast<long>(begin), covered.begin() + static_cast<long>(intervals.back().second),
              true);
  }
  std::ranges::shuffle(intervals, random);
  KernelTally timed = tally(0);
  for (const std::uint64_t begin : {std::uint64_t{1}, covered.size()}) timed.kernel("runUpload", begin, begin);
  for (const auto& [begin, end] : intervals) timed.kernel("conv", begin, end);
  EXPECT_NEAR(timed.times().kernel_s, 1e-9 * static_cast<double>(std::ranges::count(covered, true)), 1e-12);
}

TEST(KernelTally, SaysWhyWithoutAWindow) {
  KernelTally timed = tally(1);
  EXPECT_THAT(timed.times().problem, HasSubstr("'Upload'"));
  run_step(timed, 10);
  run_step(timed, 20);
  EXPECT_THAT(timed.times().problem, HasSubstr("2 ran"));
  EXPECT_EQ(timed.times().steps, 0u);
  run_step(timed, 30);
  EXPECT_EQ(timed.times().problem, "");
}

TEST(KernelTally, RecordsWithoutTimesAreLostAndTold) {
  KernelTally timed = tally(0);
  run_step(timed, 10);
  timed.kernel("conv_a", 0, 0);
  timed.kernel("conv_a", 20, 10);
  timed.copy(0, 5);
  run_step(timed, 20);
  EXPECT_FALSE(timed.times().exact);
  EXPECT_EQ(timed.times().lost_records, 3u);
  EXPECT_EQ(timed.times().kernels, 3u);
  EXPECT_DOUBLE_EQ(timed.times().kernel_s, 7);
}

TEST(KernelTally, DroppedRecordsMakeItInexact) {
  KernelTally timed = tally(0);
  run_step(timed, 10);
  run_step(timed, 20);
  EXPECT_TRUE(timed.times().exact);
  timed.lose(4);
  EXPECT_FALSE(timed.times().exact);
}

TEST(KernelTimesJson, IsOneObjectWithReadableNames) {
  KernelTimes times{.steps = 3, .window_s = 0.5, .kernel_s = 0.25, .kernels = 7, .exact = false};
  times.copies = {"copies", 2, 0.125};
  times.costliest = {{"_ZN3one3runEi", 4, 0.0625, 0.03125}, {"gemm \"a\\b\"\n", 3, 1e-9}};
  times.problem = "none";
  const auto json = nlohmann::json::parse(to_json(times));
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["window_s"], 0.5);
  EXPECT_EQ(json["kernel_s"], 0.25);
  EXPECT_EQ(json["kernels"], 7);
  EXPECT_EQ(json["copies"], 2);
  EXPECT_EQ(json["copies_s"], 0.125);
  EXPECT_EQ(json["memsets"], 0);
  EXPECT_EQ(json["exact"], false);
  EXPECT_EQ(json["problem"], "none");
  ASSERT_THAT(json["costliest"], SizeIs(2));
  EXPECT_EQ(json["costliest"][0]["name"], "one::run(int)");
  EXPECT_EQ(json["costliest"][0]["count"], 4);
  EXPECT_EQ(json["costliest"][0]["own_s"], 0.03125);
  EXPECT_EQ(json["costliest"][1]["name"], "gemm \"a\\b\"\n");
  EXPECT_EQ(json["costliest"][1]["time_s"], 1e-9);
}

}  // namespace
}  // namespace chexbench::measure
