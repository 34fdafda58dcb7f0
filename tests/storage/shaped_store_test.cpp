#include "storage/shaped_store.hpp"

#include <gtest/gtest.h>

#include "core/scratch.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

TEST(Shaper, AddsTheLatencyToEachRequest) {
  Shaper shaper({.latency_ms = 20}, 1);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(5, kMegabyte), 5.02);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(5, kMegabyte), 5.02);
}

TEST(Shaper, SharesTheBandwidthBetweenRequests) {
  Shaper shaper({.bandwidth_mb_per_s = 10}, 1);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(5, kMegabyte), 5.1);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(5, kMegabyte), 5.2);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(9, kMegabyte), 9.1);
}

TEST(Shaper, LetsRequestsBeginAsOftenAsIopsAllow) {
  Shaper shaper({.iops = 4}, 1);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(1, 1), 1);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(1, 1), 1.25);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(1, 1), 1.5);
  EXPECT_DOUBLE_EQ(shaper.arrival_s(3, 1), 3);
}

TEST(Shaper, JitterHasItsMeanAndIsTheSameEachTime) {
  Shaper one({.jitter_ms = 10}, 7), other({.jitter_ms = 10}, 7);
  double sum_s = 0;
  for (int i = 0; i < 10000; ++i) {
    const double jitter_s = one.arrival_s(0, 0);
    EXPECT_EQ(jitter_s, other.arrival_s(0, 0));
    EXPECT_GE(jitter_s, 0);
    sum_s += jitter_s;
  }
  EXPECT_NEAR(sum_s / 10000, 0.01, 0.0005);
}

// A clock that advances only when somebody sleeps.
class ShapedStoreTest : public testing::Test {
 protected:
  std::shared_ptr<const Store> shaped(const spec::StoreShape& shape) {
    return shape_store(local_store(), shape,
                       {.now_s = [this] { return now_s_; },
                        .sleep_until_s =
                            [this](double until_s, const std::stop_token& stop) {
                              if (stop.stop_requested()) return false;
                              now_s_ = std::max(now_s_, until_s);
                              return true;
                            }});
  }
  ScratchFolder folder_;
  double now_s_ = 100;
};

TEST_F(ShapedStoreTest, AFileIsOneRequest) {
  write_text(folder_ / "a", std::string(2 * kMegabyte, 'x'));
  ByteBuffer buffer;
  EXPECT_EQ(shaped({.bandwidth_mb_per_s = 10, .latency_ms = 50})->read(folder_ / "a", buffer).size(), 2 * kMegabyte);
  EXPECT_DOUBLE_EQ(now_s_, 100.25);
}

TEST_F(ShapedStoreTest, AStreamPaysForEachBlockOnce) {
  const std::size_t block = std::size_t{1} << 20;
  write_text(folder_ / "a", std::string(2 * block + 10, 'x'));
  const auto store = shaped({.latency_ms = 50});
  const auto stream = store->stream(folder_ / "a", {});
  stream->take(10);
  EXPECT_DOUBLE_EQ(now_s_, 100.05);
  stream->take(block - 10);
  EXPECT_DOUBLE_EQ(now_s_, 100.05);
  EXPECT_EQ(stream->take(block + 10).bytes.size(), block + 10);  // two blocks, requested at once
  EXPECT_DOUBLE_EQ(now_s_, 100.10);
}

TEST_F(ShapedStoreTest, AStreamThatIsStoppedGivesNothing) {
  write_text(folder_ / "a", "x");
  std::stop_source stop;
  const auto store = shaped({.latency_ms = 50});
  const auto stream = store->stream(folder_ / "a", stop.get_token());
  stop.request_stop();
  EXPECT_TRUE(stream->take(1).bytes.empty());
}

TEST_F(ShapedStoreTest, IsWorthThreadsThoughItsFilesAreLocal) {
  EXPECT_TRUE(shaped({.latency_ms = 50})->is_local());
  EXPECT_TRUE(shaped({.latency_ms = 50})->is_distant());
  EXPECT_FALSE(local_store()->is_distant());
}

}  // namespace
}  // namespace chexbench::storage
