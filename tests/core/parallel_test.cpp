#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
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

}  // namespace
}  // namespace chexbench
