#include "measure/wait_book.hpp"

#include <gtest/gtest.h>

namespace chexbench::measure {
namespace {

using Ops = std::vector<OpCounters>;

class WaitBookTest : public testing::Test {
 protected:
  void step(double wait_s, Ops meanwhile) {
    const char* const names[] = {"read", "map", "batch"};
    for (std::size_t i = 0; i < meanwhile.size(); ++i) meanwhile[i].op = names[i];
    book_.step(wait_s, meanwhile);
  }
  std::vector<WaitBooking> close() { return book_.close(); }

  WaitBook book_{3};
};

const Ops kMapWorks{{.busy_wall_s = 0.1},
                    {.busy_wall_s = 5, .blocked_input_s = 0.2, .decode_s = 4},
                    {.busy_wall_s = 0.1, .blocked_input_s = 5}};
const Ops kReadWorks{{.busy_wall_s = 5}, {.busy_wall_s = 1, .blocked_input_s = 4}, {.blocked_input_s = 5}};
const Ops kNothingDone{{}, {}, {}};

TEST(AwaitedOp, IsTheOneThatWorksWhileThoseBehindItWaitForInput) {
  EXPECT_EQ(awaited_op(kMapWorks), 1u);
  EXPECT_EQ(awaited_op(kReadWorks), 0u);
}

TEST(AwaitedOp, IsNoneThatWaitsForRoom) {
  EXPECT_EQ(awaited_op({{.busy_wall_s = 1, .blocked_output_s = 4}, {.busy_wall_s = 4, .blocked_input_s = 0.1}}), 1u);
}

TEST(AwaitedOp, IsNoneWhereNothingStandsOut) {
  EXPECT_FALSE(awaited_op({{.busy_wall_s = 1, .blocked_input_s = 2}}).has_value());
  EXPECT_FALSE(awaited_op({}).has_value());
}

TEST_F(WaitBookTest, SplitsAWaitAsTheThreadsOfTheOpSplitTheirTime) {
  step(1, kMapWorks);
  const auto bookings = close();
  ASSERT_EQ(bookings.size(), 2u);
  EXPECT_EQ(bookings[0].op, "map");
  EXPECT_EQ(bookings[0].op_index, 1);
  EXPECT_EQ(bookings[0].rank, 3);
  EXPECT_EQ(bookings[0].part, "decode");
  EXPECT_DOUBLE_EQ(bookings[0].wait_s, 0.8);
  EXPECT_EQ(bookings[1].part, "other");
  EXPECT_DOUBLE_EQ(bookings[1].wait_s, 0.2);
}

TEST_F(WaitBookTest, BooksEachStepToWhatWasAwaitedThen) {
  step(1, kReadWorks);
  step(2, kMapWorks);
  step(4, kReadWorks);
  const auto bookings = close();
  ASSERT_EQ(bookings.size(), 3u);
  EXPECT_EQ(bookings[0].op, "read");
  EXPECT_DOUBLE_EQ(bookings[0].wait_s, 5);
  EXPECT_DOUBLE_EQ(bookings[1].wait_s + bookings[2].wait_s, 2);
}

TEST_F(WaitBookTest, AWaitInWhichNoThreadWasDoneIsBookedWithTheNext) {
  step(1, kNothingDone);
  step(2, kReadWorks);
  const auto bookings = close();
  ASSERT_EQ(bookings.size(), 1u);
  EXPECT_DOUBLE_EQ(bookings[0].wait_s, 3);
}

TEST_F(WaitBookTest, WhatStaysOpenGoesToTheOpThatWorkedLongest) {
  const Ops crowded{{.busy_wall_s = 2, .blocked_output_s = 3}, {.busy_wall_s = 1, .blocked_input_s = 2}, {}};
  step(1, crowded);
  const auto bookings = close();
  ASSERT_EQ(bookings.size(), 1u);
  EXPECT_EQ(bookings[0].op, "read");
}

TEST_F(WaitBookTest, NoWaitIsLost) {
  step(1, kNothingDone);
  const auto bookings = close();
  ASSERT_EQ(bookings.size(), 1u);
  EXPECT_EQ(bookings[0].op_index, -1);
  EXPECT_DOUBLE_EQ(bookings[0].wait_s, 1);
}

TEST_F(WaitBookTest, StepsThatDidNotWaitBookNothing) {
  step(0, kMapWorks);
  EXPECT_TRUE(close().empty());
}

}  // namespace
}  // namespace chexbench::measure
