#include "comm/comm_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace chexbench::comm {
namespace {

constexpr double kNapS = 1e-3;

TEST(CommThread, RunsAnOperationUntilItIsDoneAndReturnsThen) {
  CommThread thread;
  int polls = 0;
  thread.run(nullptr, kNapS, [&] { return ++polls < 5 ? Progress::waiting : Progress::done; });
  EXPECT_EQ(polls, 5);
}

TEST(CommThread, MakesAllCallsOnOneThread) {
  CommThread thread;
  std::vector<std::thread::id> ids;
  for (int i = 0; i < 3; ++i) thread.run(&ids, [&] { ids.push_back(std::this_thread::get_id()); });
  EXPECT_THAT(ids, testing::Each(ids.front()));
  EXPECT_NE(ids.front(), std::this_thread::get_id());
}

TEST(CommThread, HandsAnErrorToTheCallerAndGoesOn) {
  CommThread thread;
  EXPECT_THROW(thread.run(nullptr, kNapS, []() -> Progress { throw std::runtime_error("lost"); }), std::runtime_error);
  bool ran = false;
  thread.run(nullptr, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(CommThread, CallsDoneOnceWhereItThrowsAndHandsThatToTheOthersAndToWhoeverComesLater) {
  CommThread thread;
  const int lanes[2] = {};
  int calls = 0;  // written by the comm thread
  std::atomic<bool> waits = false;
  std::promise<void> other;
  thread.submit({.lane = &lanes[0],
                 .longest_nap_s = kNapS,
                 .poll = [&] { return waits ? Progress::done : Progress::waiting; },
                 .done =
                     [&calls](const std::exception_ptr&) {
                       ++calls;
                       throw std::runtime_error("no memory");
                     }});
  thread.submit({.lane = &lanes[1],
                 .longest_nap_s = kNapS,
                 .poll =
                     [&] {
                       waits = true;
                       return Progress::waiting;
                     },
                 .done = [&](const std::exception_ptr& error) { other.set_exception(error); }});
  EXPECT_THROW(other.get_future().get(), std::runtime_error);
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(thread.run(nullptr, [] {}), std::runtime_error);
}

TEST(CommThread, DoesItsDutyWhileItIdlesAndBetweenPolls) {
  CommThread thread;
  std::thread::id comm_thread;
  thread.run(nullptr, [&] { comm_thread = std::this_thread::get_id(); });
  std::latch idle(3);
  std::atomic<int> calls = 0;
  thread.attend([&] {
    EXPECT_EQ(std::this_thread::get_id(), comm_thread);
    if (++calls <= 3) idle.count_down();
    return 1e-3;
  });
  idle.wait();
  thread.run(nullptr, kNapS,
             [&, begun = calls.load()] { return calls > begun + 2 ? Progress::done : Progress::waiting; });
  thread.attend({});
  const int last = calls;
  thread.run(nullptr, [] {});
  EXPECT_EQ(calls, last);
}

TEST(CommThread, RunsALaneInOrderOneOperationAtATime) {
  CommThread thread;
  const int lane = 0;
  std::string order;  // written by the comm thread
  std::latch all_done(3);
  for (const char name : {'a', 'b', 'c'}) {
    auto polls = std::make_shared<int>(0);
    thread.submit({.lane = &lane,
                   .longest_nap_s = kNapS,
                   .poll =
                       [&order, name, polls] {
                         order += name;
                         return ++*polls < 3 ? Progress::moved : Progress::done;
                       },
                   .done =
                       [&](const std::exception_ptr& error) {
                         EXPECT_FALSE(error);
                         all_done.count_down();
                       }});
  }
  all_done.wait();
  EXPECT_EQ(order, "aaabbbccc");
}

// Ranks submit to different lanes in different orders, so an operation that waits must never hold up another lane.
TEST(CommThread, RunsLanesSideBySide) {
  CommThread thread;
  const int lanes[2] = {};
  bool second_ran = false;  // written by the comm thread
  std::latch first_done(1);
  thread.submit({.lane = &lanes[0],
                 .longest_nap_s = kNapS,
                 .poll = [&] { return second_ran ? Progress::done : Progress::waiting; },
                 .done = [&](const std::exception_ptr&) { first_done.count_down(); }});
  thread.run(&lanes[1], [&] { second_ran = true; });
  first_done.wait();
}

TEST(CommThread, ServesManyCallersAtOnce) {
  CommThread thread;
  constexpr int kCallers = 4, kCalls = 200;
  int calls = 0;  // written by the comm thread
  std::vector<std::jthread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, lane = std::make_unique<int>()] {
      for (int call = 0; call < kCalls; ++call) thread.run(lane.get(), [&] { ++calls; });
    });
  }
  callers.clear();
  EXPECT_EQ(calls, kCallers * kCalls);
}

TEST(CommThread, DropsWhatNeverCompletesWhenItIsDestroyed) {
  std::atomic<bool> begun = false;
  bool done = false;
  {
    CommThread thread;
    thread.submit({.lane = nullptr,
                   .longest_nap_s = kNapS,
                   .poll =
                       [&] {
                         begun = true;
                         begun.notify_all();
                         return Progress::waiting;
                       },
                   .done = [&](const std::exception_ptr&) { done = true; }});
    begun.wait(false);
  }
  EXPECT_FALSE(done);
}

TEST(NapSchedule, PollsWithoutSleepingWhileDataMoves) {
  EXPECT_EQ(nap_after_s(0, 5e-3), 0);
  EXPECT_EQ(nap_after_s(0.9e-3, 5e-3), 0);
}

TEST(NapSchedule, SleepsLongerTheLongerNothingMoves) {
  EXPECT_DOUBLE_EQ(nap_after_s(2e-3, 5e-3), 100e-6);
  EXPECT_DOUBLE_EQ(nap_after_s(20e-3, 5e-3), 1e-3);
  EXPECT_DOUBLE_EQ(nap_after_s(1, 5e-3), 5e-3);
  EXPECT_DOUBLE_EQ(nap_after_s(1, 1e-3), 1e-3);
}

// A rank that is not in a sub-world and waits for a minute polls about 200 times a second, not a million times.
TEST(NapSchedule, CostsFewPollsInALongWait) {
  double waited_s = 0;
  int polls = 0;
  while (waited_s < 60) {
    const double nap_s = nap_after_s(waited_s, 5e-3);
    waited_s += nap_s == 0 ? 1e-6 : nap_s;
    polls += nap_s == 0 ? 0 : 1;
  }
  EXPECT_LT(polls, 60 * 205);
}

}  // namespace
}  // namespace chexbench::comm
