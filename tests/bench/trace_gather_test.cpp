#include "bench/merge_ranks.hpp"

#include <gtest/gtest.h>

namespace chexbench::bench {
namespace {

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
