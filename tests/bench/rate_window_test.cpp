#include "bench/time_left.hpp"

#include <gtest/gtest.h>

namespace chexbench::bench {
namespace {

// Hands over batches of 10 images, the first `ahead` images at once and the others at 100 images/s. Returns the
// window's rate, and counts the batches.
double rate_of(RateWindow window, std::int64_t ahead, int& batches) {
  double now_s = 0;
  for (batches = 1;; ++batches) {
    if (batches * 10 > ahead) now_s += 0.1;
    if (const auto rate = window.take(10, now_s)) return *rate;
  }
}

TEST(RateWindow, IsOfTwoBatchesAndFourMoreWhereNothingIsReadAhead) {
  int batches = 0;
  EXPECT_NEAR(rate_of(RateWindow({.window_s = 0.3}, 0), 0, batches), 100, 1e-9);
  EXPECT_EQ(batches, 6);
}

TEST(RateWindow, LastsAsLongAsItIsTold) {
  int batches = 0;
  rate_of(RateWindow({.window_s = 0.95}, 0), 0, batches);
  EXPECT_EQ(batches, 12);
}

// Seen with 20 and 40 shards of a slow store: the read-ahead made it look twice as fast as it is.
TEST(RateWindow, DoesNotTakeWhatWasReadAheadForSpeed) {
  int batches = 0;
  EXPECT_NEAR(rate_of(RateWindow({.window_s = 0.3, .images_ahead = 200}, 0), 200, batches), 100, 1e-9);
  EXPECT_EQ(batches, 40) << "as many images in the window as before it";
  EXPECT_GT(rate_of(RateWindow({.window_s = 0.3}, 0), 200, batches), 400) << "which is why they are told apart";
}

TEST(RateWindow, EndsWithItsPipeline) {
  RateWindow window({.window_s = 10, .images_ahead = 20}, 0);
  EXPECT_FALSE(window.take(10, 1));
  EXPECT_DOUBLE_EQ(window.end(2), 5) << "of everything, as it did not open";
  EXPECT_FALSE(window.take(10, 2));
  EXPECT_FALSE(window.take(30, 4));
  EXPECT_DOUBLE_EQ(window.end(5), 10);
}

}  // namespace
}  // namespace chexbench::bench
