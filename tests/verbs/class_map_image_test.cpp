#include "verbs/evaluate/class_map_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chexbench::verbs {
namespace {

using testing::ElementsAre;

std::vector<std::uint8_t> pixel(const std::vector<std::uint8_t>& rgb, int size, int x, int y) {
  const auto at = rgb.begin() + 3 * (y * size + x);
  return {at, at + 3};
}

TEST(ClassMapImage, IsBlueAtTheLeastAndRedAtTheLargestValue) {
  const std::vector<float> map{-3, 1, -1, 5};  // 2x2
  const std::vector<std::uint8_t> black(8 * 8, 0);
  const auto rgb = class_map_image(map, 2, 2, black, 8);
  ASSERT_EQ(rgb.size(), 8u * 8 * 3);
  EXPECT_THAT(pixel(rgb, 8, 0, 0), ElementsAre(0, 0, 64)) << "half of a dark blue";
  EXPECT_THAT(pixel(rgb, 8, 7, 7), ElementsAre(64, 0, 0));
}

TEST(ClassMapImage, EnlargesLinearlyFromTheMiddlesOfPlaces) {
  // The places' middles are at 0.25 and 0.75 of the width: 4 pixels lie at -0.25, 0.25, 0.75 and 1.25 places, and
  // positions outside have the value of the edge. So the levels are 0, 0.25, 0.75 and 1.
  const auto rgb = class_map_image(std::vector<float>{0, 1}, 1, 2, std::vector<std::uint8_t>(16, 0), 4);
  EXPECT_THAT(pixel(rgb, 4, 0, 2), ElementsAre(0, 0, 64));
  EXPECT_THAT(pixel(rgb, 4, 1, 2), ElementsAre(0, 64, 128));
  EXPECT_THAT(pixel(rgb, 4, 2, 2), ElementsAre(128, 64, 0));
  EXPECT_THAT(pixel(rgb, 4, 3, 2), ElementsAre(64, 0, 0));
}

TEST(ClassMapImage, KeepsHalfOfTheImage) {
  std::vector<std::uint8_t> gray(16, 100);
  gray[5] = 200;
  const auto rgb = class_map_image(std::vector<float>{0, 0, 0, 0}, 2, 2, gray, 4);
  EXPECT_THAT(pixel(rgb, 4, 1, 1), ElementsAre(100, 100, 164));
  EXPECT_THAT(pixel(rgb, 4, 0, 0), ElementsAre(50, 50, 114)) << "a map of one value";
}

}  // namespace
}  // namespace chexbench::verbs
