// Tests BatchLine when something goes wrong: errors, stopping, and consumers that leave early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "core/scratch.hpp"
#include "pipeline/batch_line.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline::test {
namespace {

using testing::ElementsAre;

std::exception_ptr error(const char* what) { return std::make_exception_ptr(std::runtime_error(what)); }

// A line of batches of 2, which the test itself fills and empties.
class BatchLineTrouble : public testing::Test {
 protected:
  // Claims slots for images numbered from `first`.
  std::vector<BatchSlot> claim(int images, std::uint32_t first = 0) {
    std::vector<BatchSlot> slots;
    for (int i = 0; i < images; ++i) {
      turnstile_.enter(never_);
      const BatchSlot& slot = slots.emplace_back(line_.claim(never_));
      slot.batch->lease->ids[static_cast<std::size_t>(slot.slot)].image = first + static_cast<std::uint32_t>(i);
      turnstile_.leave(1, false);
    }
    return slots;
  }
  std::vector<std::uint32_t> take() { return order(images_of(*line_.take(never_))); }
  std::string message_of_take() {
    return message_of<std::runtime_error>([this] { line_.take(never_); });
  }

  const TinySet set_{{1}};
  Chain chain_{set_.of(spec::DataFormat::images),
               {op("list_files"), op("read"), op("map_and_batch", {{"parallel_batches", std::int64_t{3}}})},
               {.batch = 2, .size = 8}};
  OpStats& stats_ = chain_.at(2).stats();
  const std::stop_token never_;
  Turnstile turnstile_{6, stats_};
  BatchLine line_{chain_.at(2), turnstile_, false};
};

TEST_F(BatchLineTrouble, ThrowsARecordsErrorWhenItsBatchsTurnComes) {
  const auto slots = claim(6);
  line_.fail(slots[3], error("record 3"));
  for (const std::size_t i : {5u, 4u, 2u, 1u, 0u}) line_.finish(slots[i], true);
  EXPECT_THAT(take(), ElementsAre(0u, 1u));
  EXPECT_EQ(message_of_take(), "record 3");
}

TEST_F(BatchLineTrouble, ThrowsTheErrorsOfTwoBatchesInTheOrderOfTheInput) {
  const auto slots = claim(4);
  line_.fail(slots[2], error("record 2"));
  line_.fail(slots[0], error("record 0"));
  line_.finish(slots[3], true);
  line_.finish(slots[1], true);
  EXPECT_EQ(message_of_take(), "record 0");
}

TEST_F(BatchLineTrouble, ThrowsTheErrorOfTheBatchThatAHoleIsFilledFrom) {
  const auto slots = claim(4);
  line_.finish(slots[0], true);
  line_.finish(slots[1], false);
  line_.fail(slots[3], error("record 3"));
  line_.finish(slots[2], true);
  EXPECT_EQ(message_of_take(), "record 3");
}

TEST_F(BatchLineTrouble, ThrowsTheInputsErrorBehindFullBatchesAndEndsThen) {
  for (const BatchSlot& slot : claim(3)) line_.finish(slot, true);
  line_.end(error("input"));
  EXPECT_THAT(take(), ElementsAre(0u, 1u));
  EXPECT_EQ(message_of_take(), "input");
  EXPECT_FALSE(line_.take(never_));
}

TEST_F(BatchLineTrouble, WaitsForABatchThatIsFullButNotDone) {
  const auto slots = claim(2);
  line_.finish(slots[1], true);
  std::atomic<bool> done = false;
  bool came_too_early = false;
  std::jthread consumer([&] {
    EXPECT_THAT(take(), ElementsAre(0u, 1u));
    came_too_early = !done;
  });
  std::this_thread::yield();
  done = true;
  line_.finish(slots[0], true);
  consumer.join();
  EXPECT_FALSE(came_too_early);
}

TEST_F(BatchLineTrouble, IsStoppedWhileItWaitsOnEitherSide) {
  std::stop_source stop;
  std::vector<BatchLease> all;  // the consumer keeps every batch, which is more than it is allowed to
  while (all.size() < 3 + kLeasesOut) all.push_back(chain_.at(2).resources().batches->acquire(never_));
  std::jthread claiming([&] { EXPECT_EQ(line_.claim(stop.get_token()).batch, nullptr); });
  std::jthread taking([&] { EXPECT_FALSE(line_.take(stop.get_token())); });
  stop.request_stop();
}

TEST_F(BatchLineTrouble, FreesTheUnitsOfABatchThatIsTakenOrUsedUp) {
  const auto slots = claim(6);  // the number that the turnstile admits
  for (const std::size_t i : {0u, 2u}) line_.finish(slots[i], true);
  for (const std::size_t i : {1u, 3u}) line_.finish(slots[i], false);
  EXPECT_THAT(take(), ElementsAre(0u, 2u));
  EXPECT_EQ(claim(4, 6).size(), 4u);  // otherwise this would wait forever
}

TEST(BatchLineLeft, InTheMiddleGivesItsBatchesBackAndCountsThemOut) {
  const TinySet set({1});
  Chain chain(set.of(spec::DataFormat::images), {op("list_files"), op("read"), op("map_and_batch")},
              {.batch = 2, .size = 8});
  OpStats& stats = chain.at(2).stats();
  BatchPool& pool = *chain.at(2).resources().batches;
  const std::stop_token never;
  {
    Turnstile turnstile(100, stats);
    BatchLine line(chain.at(2), turnstile, true);
    std::vector<BatchSlot> slots;
    for (int i = 0; i < 5; ++i) slots.push_back(line.claim(never));
    turnstile.leave(5, false);
    line.finish(slots[0], true);
    line.finish(slots[1], true);
    line.finish(slots[2], true);
    line.finish(slots[3], false);
    EXPECT_EQ(stats.images_held.value(), 3u);
    EXPECT_EQ(stats.queue_depth.value(), 2u);
    EXPECT_EQ(stats.bytes_held.value(), 3 * pool.shape().bytes());
  }
  EXPECT_EQ(stats.images_held.value(), 0u);
  EXPECT_EQ(stats.queue_depth.value(), 0u);
  EXPECT_EQ(stats.bytes_held.value(), 0u);
  std::vector<BatchLease> all;
  while (all.size() < pool.capacity()) all.push_back(pool.acquire(never));  // otherwise this would wait forever
}

}  // namespace
}  // namespace chexbench::pipeline::test
