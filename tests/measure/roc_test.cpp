#include "measure/auroc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "core/random.hpp"

namespace chexbench::measure {
namespace {

using testing::Each;
using testing::ElementsAre;

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<float>;

std::vector<std::optional<double>> sensitivities(const Scores& scores, const Labels& labels,
                                                 const std::vector<std::uint32_t>& weight, std::size_t points) {
  std::vector<std::optional<double>> values(points);
  RankedLabel(scores, labels).sensitivities(weight, values);
  return values;
}

std::vector<std::optional<double>> sensitivities(const Scores& scores, const Labels& labels, std::size_t points) {
  return sensitivities(scores, labels, std::vector<std::uint32_t>(scores.size(), 1), points);
}

TEST(Sensitivities, AreTheHighestAtTheirFalsePositiveRate) {
  EXPECT_THAT(sensitivities({1, 2, 3, 4}, {0, 0, 1, 1}, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(sensitivities({4, 3, 2, 1}, {0, 0, 1, 1}, 3), ElementsAre(0, 0, 1));
  EXPECT_THAT(sensitivities({1, 2, 3, 4}, {0, 1, 0, 1}, 3), ElementsAre(0.5, 1, 1));
}

TEST(Sensitivities, AreOnStraightLinesBetweenThresholds) {
  EXPECT_THAT(sensitivities({7, 7, 7, 7}, {0, 1, 0, 1}, 5), ElementsAre(0, 0.25, 0.5, 0.75, 1)) << "one threshold";
  EXPECT_THAT(sensitivities({1, 2, 2, 2, 3}, {0, 0, 0, 1, 1}, 4), ElementsAre(0.5, 0.75, 1, 1));
}

TEST(Sensitivities, CountAnImageAsOftenAsItWeighs) {
  EXPECT_EQ(sensitivities({1, 2, 3}, {0, 1, 0}, {2, 1, 1}, 4), sensitivities({1, 1, 2, 3}, {0, 0, 1, 0}, 4));
  EXPECT_EQ(sensitivities({1, 2, 3}, {0, 1, 0}, {1, 1, 0}, 4), sensitivities({1, 2}, {0, 1}, 4));
}

TEST(Sensitivities, HaveNoValueWithoutBothKindsOfImages) {
  EXPECT_THAT(sensitivities({1, 2}, {1, 1}, 3), Each(std::nullopt));
  EXPECT_THAT(sensitivities({1, 2}, {0, 0}, 3), Each(std::nullopt));
  EXPECT_THAT(sensitivities({1, 2}, {0, 1}, {1, 0}, 3), Each(std::nullopt)) << "an image of weight 0 is not there";
}

// By the definition: the points of all thresholds, and the line through those around a false positive rate.
double by_thresholds(const Scores& scores, const Labels& labels, double rate) {
  const auto positives = static_cast<double>(std::ranges::count(labels, 1));
  const double negatives = static_cast<double>(labels.size()) - positives;
  std::vector<std::pair<double, double>> points{{0, 0}};
  for (float threshold = 12; threshold >= 0; --threshold) {
    double found = 0, wrong = 0;
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (scores[i] >= threshold) (labels[i] != 0 ? found : wrong) += 1;
    points.emplace_back(wrong / negatives, found / positives);
  }
  double best = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto [x0, y0] = points[i - 1];
    const auto [x1, y1] = points[i];
    if (x0 > rate + 1e-12 || x1 < rate - 1e-12) continue;
    best = std::max(best, x1 == x0 ? y1 : y0 + (y1 - y0) * std::clamp((rate - x0) / (x1 - x0), 0.0, 1.0));
  }
  return best;
}

TEST(Sensitivities, AreThoseOfAllThresholds) {
  RandomStream random(1);
  for (int round = 0; round < 50; ++round) {
    Scores scores;
    Labels labels{1, 0};
    for (int i = 0; i < 40; ++i) scores.push_back(static_cast<float>(random.below(12)));  // many ties
    while (labels.size() < scores.size()) labels.push_back(static_cast<std::uint8_t>(random.below(3) == 0));
    const auto values = sensitivities(scores, labels, 21);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(*values[i], by_thresholds(scores, labels, static_cast<double>(i) / 20), 1e-12) << i;
  }
}

// Labels of 300 images whose scores are higher where they have the label; two images of each patient.
ScoredImages scored() {
  RandomStream random(2);
  ScoredImages images{.columns = 2, .scores = {}, .labels = {}, .patients = {}};
  for (std::uint32_t i = 0; i < 300; ++i) {
    images.patients.push_back(i / 2);
    for (std::size_t column = 0; column < images.columns; ++column) {
      const bool has_it = random.below(4) == 0;
      images.labels.push_back(has_it ? 1 : 0);
      images.scores.push_back(static_cast<float>(random.below(1000) + (has_it ? 300 : 0)));
    }
  }
  return images;
}

TEST(RocSummary, EnclosesCurvesInTheirBandsAndAveragesLabels) {
  const RocSummary summary = summarize_roc(scored());
  ASSERT_EQ(summary.labels.size(), 2u);
  for (std::size_t point = 0; point < kRocPoints; ++point) {
    double sum = 0;
    for (const RocCurve& curve : summary.labels) {
      ASSERT_TRUE(curve[point].value && curve[point].ci95) << point;
      EXPECT_LE(curve[point].ci95->low, *curve[point].value) << point;
      EXPECT_GE(curve[point].ci95->high, *curve[point].value) << point;
      sum += *curve[point].value;
    }
    EXPECT_NEAR(*summary.mean[point].value, sum / 2, 1e-12) << point;
  }
  const auto [low, high] = *summary.labels[0][10].ci95;
  EXPECT_GT(high - low, 0.05) << "150 patients do not know it better";
}

TEST(RocSummary, HasTheAreaOfTheAuroc) {
  const ScoredImages images = scored();
  const AurocSummary auroc = summarize_auroc(images);
  const RocSummary summary = summarize_roc(images);
  for (std::size_t f = 0; f < 2; ++f) {
    double area = 0;
    for (std::size_t point = 1; point < kRocPoints; ++point)
      area += (*summary.labels[f][point - 1].value + *summary.labels[f][point].value) / 2 / (kRocPoints - 1);
    EXPECT_NEAR(area, *auroc.labels[f].value, 0.01);
  }
}

TEST(RocSummary, LeavesOutALabelThatEveryImageHas) {
  ScoredImages images = scored();
  for (std::size_t i = 1; i < images.labels.size(); i += 2) images.labels[i] = 1;
  const RocSummary summary = summarize_roc(images);
  EXPECT_FALSE(summary.labels[1][10].value || summary.labels[1][10].ci95);
  EXPECT_EQ(summary.mean[10].value, summary.labels[0][10].value);
}

}  // namespace
}  // namespace chexbench::measure
