#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace chexbench {
namespace {

TEST(ParallelFor, VisitsEachItemOnce) {
  for (const std::size_t threads : {1u, 2u, 5u}) {
    std::vector<std::atomic<int>> visits(100);
    parallel_for(visits.size(), threads, [&](std::size_t, std::size_t item) { ++visits[item]; });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, TellsWorkersApart) {
  const std::size_t workers = worker_count(64, 4);
  EXPECT_EQ(workers, 4u);
  std::vector<int> busy(workers);  // plain ints, so that TSan shows a race if two threads get one number
  parallel_for(64, 4, [&](std::size_t worker, std::size_t) { ++busy.at(worker); });
  int sum = 0;
  for (const int count : busy) sum += count;
  EXPECT_EQ(sum, 64);
}

TEST(ParallelFor, RethrowsTheErrorAndStopsEarly) {
  std::atomic<int> visits = 0;
  EXPECT_THROW(parallel_for(1000000, 3,
                            [&](std::size_t, std::size_t item) {
                              ++visits;
                              if (item == 5) throw std::runtime_error("five");
                            }),
               std::runtime_error);
  EXPECT_LT(visits, 1000000);
}

TEST(ParallelFor, DoesNothingForNoItems) {
  parallel_for(0, 4, [](std::size_t, std::size_t) { FAIL(); });
  EXPECT_EQ(worker_count(0, 4), 1u);
  EXPECT_EQ(worker_count(2, 4), 2u);
  EXPECT_GE(worker_count(1000, 0), 1u);
}

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
