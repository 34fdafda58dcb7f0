// Tests the parts that ops are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/clock.hpp"
#include "pipeline/batch_line.hpp"
#include "pipeline/harness.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline::test {
namespace {

using testing::ElementsAre;

TEST(BoundedQueue, DeliversWhatCameBeforeTheErrorThenTheErrorThenTheEnd) {
  BoundedQueue<int> queue(4);
  queue.push(1);
  queue.push(2);
  queue.close(std::make_exception_ptr(std::runtime_error("damaged")));
  const std::stop_token never;
  EXPECT_EQ(queue.pop(never), 1);
  EXPECT_EQ(queue.pop(never), 2);
  EXPECT_THROW(queue.pop(never), std::runtime_error);
  EXPECT_EQ(queue.pop(never), std::nullopt);
}

TEST(BoundedQueue, WakesBothSidesWhenStopped) {
  BoundedQueue<int> empty(1);
  BoundedQueue<int> full(1);
  full.push(1);
  std::stop_source stop;
  std::jthread consumer([&] { EXPECT_EQ(empty.pop(stop.get_token()), std::nullopt); });
  std::jthread producer([&] { EXPECT_FALSE(full.wait_for_room(stop.get_token())); });
  stop.request_stop();
}

TEST(ChainedStop, StopsWithItsOuterOneButNotTheOuterOne) {
  std::stop_source outer;
  ChainedStop first(outer.get_token());
  ChainedStop second(outer.get_token());
  first.request_stop();
  EXPECT_FALSE(outer.stop_requested());
  EXPECT_FALSE(second.token().stop_requested());
  outer.request_stop();
  EXPECT_TRUE(second.token().stop_requested());
}

TEST(Turnstile, LetsOneInAtATimeAndNoMoreThanItsCapacity) {
  OpStats stats;
  Turnstile turnstile(3, stats);
  std::stop_source stop;
  std::atomic<int> inside = 0;
  std::atomic<int> in_use = 0;
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        while (turnstile.enter(stop.get_token())) {
          EXPECT_EQ(++inside, 1);
          EXPECT_LE(++in_use, 3);
          --inside;
          turnstile.leave(1, ++passed == 200);
        }
      });
    }
    while (passed < 200) {
      if (in_use == 0) continue;
      --in_use;
      turnstile.release(1);
    }
  }
  EXPECT_EQ(passed, 200);
}

TEST(TimeScope, TakesInnerTimeOutOfTheOuterOpAndBooksItAsBlockedInput) {
  OpStats outer;
  OpStats inner;
  {
    const TimeScope working(outer, TimeScope::Book::busy);
    {
      const TimeScope asked(inner, TimeScope::Book::input);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    {
      const TimeScope waiting(outer, TimeScope::Book::blocked_output);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  EXPECT_GE(inner.busy_wall.seconds(), 0.02);
  EXPECT_LT(inner.busy_cpu.seconds(), inner.busy_wall.seconds());
  EXPECT_NEAR(outer.blocked_input.seconds(), inner.busy_wall.seconds(), 1e-8);
  EXPECT_GE(outer.blocked_output.seconds(), 0.01);
  EXPECT_LT(outer.busy_wall.seconds(), inner.busy_wall.seconds());
}

TEST(ExamplePool, GivesReturnedMemoryOutAgain) {
  const auto pool = std::make_shared<ExamplePool>(1000);
  ExampleMemory first = pool->acquire();
  std::byte* memory = first.get();
  first.reset();
  EXPECT_EQ(pool->acquire().get(), memory);
}

// Fills batches of 4 with images 0, 1, 2 ..., some of which are bad, and takes them.
class BatchLineTest : public testing::Test {
 protected:
  std::vector<std::vector<std::uint32_t>> batches(int images, const std::vector<int>& bad, bool drop_remainder) {
    Turnstile turnstile(1000, chain_.at(0).stats());
    BatchLine line(chain_.at(0), turnstile, drop_remainder);
    const std::stop_token never;
    std::vector<std::vector<std::uint32_t>> result;
    std::jthread consumer([&] {
      while (const BatchLease batch = line.take(never)) {
        auto& images_of_batch = result.emplace_back();
        for (int i = 0; i < batch->valid; ++i) images_of_batch.push_back(batch->ids[static_cast<std::size_t>(i)].image);
      }
    });
    for (int i = 0; i < images; ++i) {
      const BatchSlot slot = line.claim(never);
      slot.batch->lease->ids[static_cast<std::size_t>(slot.slot)].image = static_cast<std::uint32_t>(i);
      line.finish(slot, std::ranges::find(bad, i) == bad.end());
    }
    line.end();
    consumer.join();
    return result;
  }

  Chain chain_{xrays(spec::DataFormat::images), {op("list_files"), op("read"), op("map_and_batch")}};
};

using Batches = std::vector<std::vector<std::uint32_t>>;

TEST_F(BatchLineTest, DeliversInOrder) { EXPECT_EQ(batches(8, {}, true), (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}})); }

TEST_F(BatchLineTest, FillsAHoleFromTheEndOfTheNextBatch) {
  EXPECT_EQ(batches(12, {1}, false), (Batches{{0, 3, 2, 7}, {4, 5, 6, 11}, {8, 9, 10}}));
}

TEST_F(BatchLineTest, UsesUpABatchThatLostMostOfItsImages) {
  EXPECT_EQ(batches(12, {0, 1, 2, 5, 6, 7}, true), (Batches{{3, 4, 11, 10}}));
}

TEST_F(BatchLineTest, SurvivesABatchWithoutAnyImage) {
  EXPECT_EQ(batches(8, {0, 1, 2, 3}, true), (Batches{{7, 6, 5, 4}}));
  EXPECT_EQ(batches(4, {0, 1, 2, 3}, false), Batches{});
}

TEST_F(BatchLineTest, KeepsOrDropsTheRemainder) {
  EXPECT_EQ(batches(5, {}, true), (Batches{{0, 1, 2, 3}}));
  EXPECT_EQ(batches(5, {}, false), (Batches{{0, 1, 2, 3}, {4}}));
}

}  // namespace
}  // namespace chexbench::pipeline::test
