#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace chexbench {
namespace {

TEST(ThreadPool, RunsEveryTask) {
  ThreadPool pool(3);
  std::latch done(100);
  std::atomic<int> sum{0};
  for (int i = 1; i <= 100; ++i) {
    pool.submit([&, i] {
      sum += i;
      done.count_down();
    });
  }
  done.wait();
  EXPECT_EQ(sum, 5050);
}

TEST(ThreadPool, OfOneThreadKeepsTheOrderOfSubmission) {
  ThreadPool pool(1);
  std::latch done(50);
  std::vector<int> order;
  for (int i = 0; i < 50; ++i) {
    pool.submit([&, i] {
      order.push_back(i);
      done.count_down();
    });
  }
  done.wait();
  std::vector<int> expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(ThreadPool, RunsTasksAtTheSameTime) {
  ThreadPool pool(2);
  std::latch both(2);
  std::latch done(2);
  for (int i = 0; i < 2; ++i) {
    pool.submit([&] {
      both.arrive_and_wait();  // a single thread would wait here forever
      done.count_down();
    });
  }
  done.wait();
  EXPECT_EQ(pool.size(), 2u);
}

TEST(ThreadPool, StartsEachWorkerWithItsIndex) {
  std::mutex mutex;
  std::set<std::size_t> indices;
  std::latch started(4);
  const ThreadPool pool(4, [&](std::size_t index) {
    {
      const std::lock_guard lock(mutex);
      indices.insert(index);
    }
    started.count_down();
  });
  started.wait();
  EXPECT_EQ(indices, (std::set<std::size_t>{0, 1, 2, 3}));
}

TEST(ThreadPool, RunsATaskThatATaskSubmittedBehindIt) {
  ThreadPool pool(1);
  std::latch done(1);
  std::vector<std::string> events;
  pool.submit([&] {
    pool.submit([&] {
      events.emplace_back("inner");
      done.count_down();
    });
    events.emplace_back("outer ends");
  });
  done.wait();
  EXPECT_EQ(events, (std::vector<std::string>{"outer ends", "inner"}));
}

TEST(ThreadPool, FinishesWhatBeganAndDropsTheRestWhenItEnds) {
  std::atomic<int> finished{0};
  std::latch began(1);
  std::latch go(1);
  {
    ThreadPool pool(1);
    pool.submit([&] {
      began.count_down();
      go.wait();
      ++finished;
    });
    for (int i = 0; i < 10; ++i) pool.submit([&] { finished += 100; });
    began.wait();
    std::jthread opener([&] { go.count_down(); });
  }
  // A worker may still get another task before the stop reaches it, but the task that had begun is always finished.
  EXPECT_EQ(finished % 100, 1);
}

// Counts threads that have ended, when they do.
struct EndedThread {
  std::atomic<int>* ended = nullptr;
  ~EndedThread() {
    if (ended != nullptr) ++*ended;
  }
};

TEST(ThreadPool, HasJoinedEveryWorkerWhenItEndsWithoutEverHavingHadATask) {
  std::atomic<int> ended{0};
  {
    const ThreadPool pool(3, [&](std::size_t) {
      thread_local EndedThread mark;
      mark.ended = &ended;
    });
  }
  EXPECT_EQ(ended, 3);
}

}  // namespace
}  // namespace chexbench
