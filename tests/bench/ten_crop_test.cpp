#include "bench/training/scoring.hpp"

#include <gtest/gtest.h>

#include <set>

namespace chexbench::bench {
namespace {

// A batch of two images of `side` pixels a side; gray values, unless `fill` is false, are 10 y + x, 100 more in the
// second image.
BatchLease batch(int side, bool fill) {
  BatchLease lease =
      BatchPool::create({.images = 2, .height = side, .width = side, .deliver = Deliver::u8}, 1, host_allocator())
          ->acquire({});
  lease->valid = fill ? 2 : 0;
  for (int i = 0; i < 2 * side * side && fill; ++i)
    lease->images[i] = static_cast<std::byte>(100 * (i / (side * side)) + 10 * (i / side % side) + i % side);
  return lease;
}

std::vector<int> crop(int number, int image) {
  const BatchLease whole = batch(7, true), part = batch(3, false);
  copy_crop(*whole, number, *part);
  EXPECT_EQ(part->valid, 2);
  std::vector<int> values;
  for (int i = 0; i < 9; ++i) values.push_back(std::to_integer<int>(part->image(image)[i]));
  return values;
}

TEST(TenCrop, TakesCornersAndMiddle) {
  EXPECT_EQ(crop(0, 0), (std::vector{0, 1, 2, 10, 11, 12, 20, 21, 22}));
  EXPECT_EQ(crop(1, 0), (std::vector{4, 5, 6, 14, 15, 16, 24, 25, 26}));
  EXPECT_EQ(crop(2, 0), (std::vector{40, 41, 42, 50, 51, 52, 60, 61, 62}));
  EXPECT_EQ(crop(3, 0), (std::vector{44, 45, 46, 54, 55, 56, 64, 65, 66}));
  EXPECT_EQ(crop(4, 0), (std::vector{22, 23, 24, 32, 33, 34, 42, 43, 44}));
  EXPECT_EQ(crop(4, 1), (std::vector{122, 123, 124, 132, 133, 134, 142, 143, 144}));
}

TEST(TenCrop, TakesTheMirrorImageOfEach) {
  std::set<std::vector<int>> all;
  for (int number = 0; number < kCrops; ++number) all.insert(crop(number, 0));
  EXPECT_EQ(all.size(), 10u);
  EXPECT_EQ(crop(5, 0), (std::vector{2, 1, 0, 12, 11, 10, 22, 21, 20}));
  EXPECT_EQ(crop(9, 0), (std::vector{24, 23, 22, 34, 33, 32, 44, 43, 42}));
}

TEST(TenCrop, CutsCropsOf224Out256) {
  spec::TrialSpec spec;
  spec.preprocess.crop = 0.9;
  EXPECT_EQ(ten_crop_input(spec).model.image_size, 256);
  EXPECT_EQ(ten_crop_input(spec).preprocess.crop, 1);
}

}  // namespace
}  // namespace chexbench::bench
