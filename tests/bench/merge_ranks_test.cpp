#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bench/merge_ranks.hpp"
#include "bench/recorder.hpp"
#include "bench/trial.hpp"

namespace chexbench::bench {
namespace {

results::RepeatResult rank_result(int rank, int steps, double wall_s) {
  results::RepeatResult result;
  result.wall_s = wall_s;
  for (int step = 0; step < steps; ++step) result.steps.push_back({.rank = rank, .step = step});
  result.images_trained = static_cast<std::uint64_t>(steps) * 4;
  result.images_decoded = result.images_trained * 2;
  result.ops.push_back({.op = "map", .elements_out = 10, .busy_wall_s = 0.5});
  return result;
}

TEST(MergeRanks, DividesAllImagesByTheSlowestRanksWallTime) {
  const auto merged = merge_ranks({rank_result(0, 10, 2.0), rank_result(1, 10, 4.0)}, 4);
  EXPECT_DOUBLE_EQ(merged.wall_s, 4.0);
  EXPECT_DOUBLE_EQ(merged.images_per_s, 2 * 10 * 4 / 4.0);
}

TEST(MergeRanks, SumsCountersAndKeepsEveryStep) {
  const auto merged = merge_ranks({rank_result(0, 3, 1.0), rank_result(1, 3, 1.0)}, 4);
  EXPECT_EQ(merged.steps.size(), 6u);
  EXPECT_EQ(merged.images_trained, 24u);
  EXPECT_EQ(merged.images_decoded, 48u);
  EXPECT_EQ(merged.ops.front().elements_out, 20u);
  EXPECT_DOUBLE_EQ(merged.ops.front().busy_wall_s, 1.0);
}

TEST(MergeRanks, FlagsARepeatThatLivedOffItsBuffers) {
  auto drained = rank_result(0, 10, 1.0);  // 40 images trained
  drained.images_held_change = -2;         // exactly 5 %
  EXPECT_FALSE(merge_ranks({drained}, 4).buffer_fed);
  drained.images_held_change = -3;
  EXPECT_TRUE(merge_ranks({drained}, 4).buffer_fed);
}

TEST(MergeRanks, KeepsTheDoubtOfAnyHostAboutThePageCache) {
  auto sure = rank_result(0, 1, 1.0);
  auto doubtful = rank_result(1, 1, 1.0);
  sure.page_cache = "cold";
  doubtful.page_cache = "cold (not verified)";
  EXPECT_EQ(merge_ranks({sure, doubtful, sure}, 4).page_cache, "cold (not verified)");
  EXPECT_EQ(merge_ranks({sure, sure}, 4).page_cache, "cold");
}

TEST(MergeRanks, AddsUpWhatHostsHaveInTheirPageCaches) {
  // The first rank looks at the files of its host. The second one is on the same host, the third on another.
  auto first = rank_result(0, 1, 1.0);
  first.looked_at_bytes = 100;
  first.cached_bytes_before = 10;
  first.cached_bytes_after = 100;
  auto third = first;
  third.cached_bytes_before = 30;
  const auto merged = merge_ranks({first, rank_result(1, 1, 1.0), third}, 4);
  EXPECT_EQ(merged.looked_at_bytes, 200u);
  EXPECT_EQ(merged.cached_bytes_before, 40u);
  EXPECT_EQ(merged.cached_bytes_after, 200u);
}

TEST(MergeRanks, KeepsTheWaitsAndSamplesOfEveryRank) {
  auto first = rank_result(0, 1, 1.0);
  auto second = rank_result(1, 1, 1.0);
  first.waits = {{.rank = 0, .op = "map", .wait_s = 1}};
  second.waits = {{.rank = 1, .op = "map", .wait_s = 2}};
  first.op_samples = {{.rank = 0}};
  second.op_samples = {{.rank = 1}};
  first.cpu_wait_s = 0.25;
  second.cpu_wait_s = 0.5;
  first.disturbance = second.disturbance = {.core_s = 2,
                                            .others_s = 1,
                                            .steal_s = 0.5,
                                            .own_cpu_s = 0.25,
                                            .own_wait_s = 0.75,
                                            .span_s = 1,
                                            .throttled_s = 0.25,
                                            .lost_core_s = 0.5,
                                            .memory_stall_s = 0.125};
  first.gpus = {{.rank = 0, .samples = std::vector<measure::GpuSample>(2)}};
  second.gpus = {{.rank = 1, .samples = std::vector<measure::GpuSample>(3)}};
  const auto merged = merge_ranks({first, second}, 4);
  ASSERT_EQ(merged.waits.size(), 2u);
  EXPECT_EQ(merged.waits[1].rank, 1);
  ASSERT_EQ(merged.op_samples.size(), 2u);
  EXPECT_EQ(merged.op_samples[1].rank, 1);
  EXPECT_EQ(merged.cpu_wait_s, 0.75);
  EXPECT_EQ(merged.disturbance.core_s, 4);
  EXPECT_EQ(merged.disturbance.others_s, 2);
  EXPECT_EQ(merged.disturbance.steal_s, 1);
  EXPECT_EQ(merged.disturbance.own_cpu_s, 0.5);
  EXPECT_EQ(merged.disturbance.own_wait_s, 1.5);
  EXPECT_EQ(merged.disturbance.span_s, 2);
  EXPECT_EQ(merged.disturbance.throttled_s, 0.5);
  EXPECT_EQ(merged.disturbance.lost_core_s, 1);
  EXPECT_EQ(merged.disturbance.memory_stall_s, 0.25);
  ASSERT_EQ(merged.gpus.size(), 2u);
  EXPECT_EQ(merged.gpus[0].samples.size(), 2u);
  EXPECT_EQ(merged.gpus[1].rank, 1);
  EXPECT_EQ(merged.gpus[1].samples.size(), 3u);
}

TEST(MergeRanks, TakesTheLargestMemoryOfAnyRank) {
  auto small = rank_result(0, 1, 1.0);
  auto large = rank_result(1, 1, 1.0);
  small.peak_rss_bytes = 10;
  large.peak_rss_bytes = 20;
  EXPECT_EQ(merge_ranks({small, large}, 4).peak_rss_bytes, 20u);
}

TEST(MergeRanks, AddsUpSecondJobsThatHaveARateOverTheLongestTime) {
  auto first = rank_result(0, 1, 1.0);
  auto second = rank_result(1, 1, 1.0);
  first.second_job = {.bytes_per_s = 5, .cpu_s = 1, .span_s = 3};
  second.second_job = {.images_per_s = 7, .bytes_per_s = 6, .cpu_s = 2, .span_s = 2};
  const results::SecondJobResult merged = merge_ranks({first, second}, 4).second_job;
  EXPECT_EQ(merged.images_per_s, 7);
  EXPECT_EQ(merged.bytes_per_s, 11);
  EXPECT_FALSE(merged.alone_images_per_s);
  EXPECT_EQ(merged.cpu_s, 3);
  EXPECT_EQ(merged.span_s, 3);
}

TEST(MergeRanks, KnowsNoLossThatNoFileKeeps) {
  auto diverged = rank_result(0, 2, 1.0);
  diverged.steps[0].timings.loss = 1e30;
  diverged.steps[1].timings.loss = 0.5;
  diverged.epochs = {{.epoch = 1, .training_loss = std::numeric_limits<double>::infinity(), .validation_loss = 2}};
  const auto merged = merge_ranks({diverged}, 4);
  EXPECT_TRUE(std::isnan(merged.steps[0].timings.loss));
  EXPECT_EQ(merged.steps[1].timings.loss, 0.5);
  EXPECT_TRUE(std::isnan(merged.epochs[0].training_loss));
  EXPECT_EQ(merged.epochs[0].validation_loss, 2);
}

TEST(OpCounterDifference, SubtractsTotalsAndKeepsWhatIsTrueNow) {
  const measure::OpCounters before{.op = "map", .elements_out = 5, .busy_cpu_s = 1, .queue_depth = 9, .images_held = 7};
  const measure::OpCounters after{.op = "map", .elements_out = 8, .busy_cpu_s = 3, .queue_depth = 2, .images_held = 4};
  const measure::OpCounters d = difference(after, before);
  EXPECT_EQ(d.elements_out, 3u);
  EXPECT_DOUBLE_EQ(d.busy_cpu_s, 2);
  EXPECT_EQ(d.queue_depth, 2u);
  EXPECT_EQ(d.images_held, 4u);
}

TEST(ClockShift, HoldsHostsTogetherByTheirBarrierAndLeavesRanksOfOneHostTheirClock) {
  const std::vector<HostClock> ranks{{"a", 100.0}, {"a", 100.5}, {"b", 7.0}, {"b", 6.5}};
  EXPECT_EQ(clock_shift_s(ranks, 0), 0);
  EXPECT_EQ(clock_shift_s(ranks, 1), 0);
  EXPECT_EQ(clock_shift_s(ranks, 2), 93);
  EXPECT_EQ(clock_shift_s(ranks, 3), 93);
}

TEST(MostSpans, OfARankAreFewerWhereThereAreManyRanks) {
  EXPECT_EQ(most_spans(1), most_spans(16));
  EXPECT_LT(most_spans(1024), 1000u);
  EXPECT_GT(most_spans(1024), 900u);
}

TEST(GatherTrace, OfOneRankKeepsWhatItRecorded) {
  const auto world = comm::join_world();
  const RankRecording mine{
      .repeat = 5,
      .host = "a",
      .ready_s = 100,
      .trace = {.threads = {{.row = 0, .name = "main", .spans = {{.name = "map", .begin_s = 1, .end_s = 2}}}},
                .dropped_spans = 9}};
  const auto trace = gather_trace(world->communicator(), mine);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->repeat, 5);
  ASSERT_EQ(trace->ranks.size(), 1u);
  EXPECT_EQ(trace->ranks[0].dropped_spans, 9u);
  EXPECT_NE(trace->ranks[0].events.find("\"map\""), std::string::npos);
}

}  // namespace
}  // namespace chexbench::bench
