#include "measure/scores.hpp"

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

TEST(TopK, ConfusionsAreThePairsOfMostImages) {
  const std::vector<std::uint32_t> labels{0, 1, 1, 2, 2, 2, 3}, taken_for{0, 2, 2, 1, 0, 2, 0};
  const std::vector<Confusion> all = most_confused(labels, taken_for, 10);
  ASSERT_EQ(all.size(), 4u) << "what is right is no confusion";
  const auto is = [&](std::size_t i, std::uint32_t label, std::uint32_t other, std::uint64_t images) {
    return all[i].label == label && all[i].taken_for == other && all[i].images == images;
  };
  EXPECT_TRUE(is(0, 1, 2, 2) && is(1, 2, 0, 1) && is(2, 2, 1, 1) && is(3, 3, 0, 1));
  EXPECT_EQ(most_confused(labels, taken_for, 2).size(), 2u);
  EXPECT_TRUE(most_confused({}, {}, 2).empty());
}

TEST(TopK, NoImagesHaveNoShares) {
  const ClassScores scores = summarize_classes({}, 2);
  EXPECT_FALSE(scores.top1.value);
  EXPECT_FALSE(scores.top5.ci95);
}

}  // namespace
}  // namespace chexbench::measure
