#include "measure/top_k.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace chexbench::measure {
namespace {

TEST(TopK, PlaceIsThatOfTheClassByItsScore) {
  const std::vector<float> scores{0.1f, 0.7f, 0.2f};
  EXPECT_EQ(place_of_class(scores, 1), 1u);
  EXPECT_EQ(place_of_class(scores, 2), 2u);
  EXPECT_EQ(place_of_class(scores, 0), 3u);
}

TEST(TopK, EqualScoresComeInTheOrderOfClasses) {
  const std::vector<float> scores{0.5f, 0.5f, 0.5f};
  for (std::size_t right = 0; right < 3; ++right) EXPECT_EQ(place_of_class(scores, right), right + 1);
}

TEST(TopK, ScoresOfADivergedNetworkRankNothing) {
  EXPECT_EQ(place_of_class(std::vector<float>{0.1f, std::nanf(""), 0.2f}, 2), 3u);
  EXPECT_EQ(place_of_class(std::vector<float>{0.1f, 0.2f, std::nanf("")}, 2), 3u);
}

TEST(TopK, SharesCountImagesAndClasses) {
  std::vector<PlacedImage> images;
  for (const std::size_t place : {1, 1, 5, 6})
    images.push_back(
        {.label = place == 6 ? 2u : 0u, .patient = static_cast<std::uint32_t>(images.size()), .place = place});
  const ClassScores scores = summarize_classes(images, 3);
  EXPECT_EQ(scores.top1.value, 0.5);
  EXPECT_EQ(scores.top5.value, 0.75);
  ASSERT_TRUE(scores.top1.ci95);
  EXPECT_LE(scores.top1.ci95->low, 0.5);
  EXPECT_GE(scores.top1.ci95->high, 0.5);
  EXPECT_EQ(scores.classes[0].images, 3u);
  EXPECT_EQ(scores.classes[0].in_top1, 2u);
  EXPECT_EQ(scores.classes[0].in_top5, 3u);
  EXPECT_EQ(scores.classes[1].images, 0u);
  EXPECT_EQ(scores.classes[2].in_top5, 0u);
}

TEST(TopK, NoImagesHaveNoShares) {
  const ClassScores scores = summarize_classes({}, 2);
  EXPECT_FALSE(scores.top1.value);
  EXPECT_FALSE(scores.top5.ci95);
}

}  // namespace
}  // namespace chexbench::measure
