#include "engine/cuda/sweep/kernel_bench.hpp"

#include <gtest/gtest.h>

#include <set>

namespace chexbench::engine::cuda {
namespace {

TEST(Selection, OfRowsIsSpreadFromTheFirstToTheLast) {
  const KernelCall call{.kernel = Kernel::normalize, .items = 802816, .channels = 64};
  const std::vector<Selection> all = selections(call);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().count(), 1024);
  EXPECT_EQ(all.front().items.front().begin, 0);
  EXPECT_EQ(all.front().items.back().end, call.items);
  std::set<std::int64_t> places;  // in a thread's loop over its rows, and among the rows of a block
  for (const ItemRange& range : all.front().items) places.insert(range.begin % 32);
  EXPECT_EQ(places.size(), 32u);
}

TEST(Selection, OfSumsHasAllRowsOfEveryPlaceInAVector) {
  for (const int channels : {32, 64, 96, 256, 1024, 2048}) {
    std::set<int> chosen, places;
    for (const Selection& selection :
         selections({.kernel = Kernel::statistics, .items = 12544, .channels = channels})) {
      EXPECT_EQ(selection.count(), 12544);
      chosen.insert(selection.channel);
      places.insert(selection.channel % 8);
    }
    EXPECT_EQ(chosen.size(), 8u);
    EXPECT_EQ(places.size(), 8u);
    EXPECT_EQ(*chosen.begin(), 0);
    EXPECT_EQ(*chosen.rbegin(), channels - 1);
  }
}

TEST(Selection, OfSumsThatAlsoWriteRowsHasTheseRows) {
  const std::vector<Selection> all = selections({.kernel = Kernel::lazy_accumulate, .items = 802816, .channels = 256});
  EXPECT_EQ(all.size(), 9u);
  EXPECT_TRUE(all.front().compares_items);
  EXPECT_FALSE(all.front().compares_sums);
}

TEST(Selection, OfPoolsHasWholeImages) {
  const KernelCall call{
      .kernel = Kernel::max_pool,
      .items = 256,
      .channels = 64,
      .pool = {.height = 112, .width = 112, .out_height = 56, .out_width = 56, .kernel = 3, .stride = 2}};
  const std::vector<Selection> all = selections(call);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all.front().count(), 3);
  EXPECT_EQ(all.front().items.front().begin, 0);
  EXPECT_EQ(all.front().items.back().begin, 255);
}

TEST(Selection, OfASmallCallIsAllOfIt) {
  EXPECT_EQ(selections({.kernel = Kernel::add, .items = 100, .channels = 64}).front().count(), 100);
  EXPECT_EQ(selections({.kernel = Kernel::loss, .items = 256, .channels = 16, .outputs = 14}).front().count(), 256);
  EXPECT_EQ(selections({.kernel = Kernel::statistics, .items = 9, .channels = 3}).size(), 3u);
}

}  // namespace
}  // namespace chexbench::engine::cuda
