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

TEST(Auroc, IsThatOfScikitLearn) {
  EXPECT_DOUBLE_EQ(*auroc(Scores{0.1f, 0.4f, 0.35f, 0.8f}, Labels{0, 0, 1, 1}), 0.75);  // roc_auc_score's example
  EXPECT_DOUBLE_EQ(*auroc(Scores{1, 2, 3, 4}, Labels{0, 0, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(*auroc(Scores{4, 3, 2, 1}, Labels{0, 0, 1, 1}), 0);
}

TEST(Auroc, CountsTiesHalf) {
  EXPECT_DOUBLE_EQ(*auroc(Scores{7, 7, 7, 7}, Labels{0, 1, 0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(*auroc(Scores{1, 2, 2, 3}, Labels{0, 0, 1, 1}), (1 + 0.5 + 1 + 1) / 4);
}

TEST(Auroc, IsUndefinedWithoutBothKinds) {
  EXPECT_FALSE(auroc(Scores{1, 2}, Labels{0, 0}));
  EXPECT_FALSE(auroc(Scores{1, 2}, Labels{1, 1}));
  EXPECT_FALSE(auroc(Scores{}, Labels{}));
}

// Computes the AUROC by its definition, over all pairs.
double by_pairs(const Scores& scores, const Labels& labels) {
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] == 0 || labels[j] == 1) continue;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      ++pairs;
    }
  }
  return won / pairs;
}

TEST(Auroc, IsTheShareOfPairsInOrder) {
  RandomStream random(1);
  for (int round = 0; round < 50; ++round) {
    Scores scores;
    Labels labels{0, 1};
    for (int i = 0; i < 40; ++i) scores.push_back(static_cast<float>(random.below(12)));  // many ties
    while (labels.size() < scores.size()) labels.push_back(static_cast<std::uint8_t>(random.below(3) == 0));
    EXPECT_DOUBLE_EQ(*auroc(scores, labels), by_pairs(scores, labels));
  }
}

// Draws `patients` with `images_each` images. Images with the finding have scores that are higher by about one
// deviation.
ScoredImages drawn(std::uint64_t seed, std::uint32_t patients, int images_each) {
  RandomStream random(seed);
  ScoredImages images{.columns = 2, .scores = {}, .labels = {}, .patients = {}};
  for (std::uint32_t patient = 0; patient < patients; ++patient) {
    const std::uint8_t label = random.below(4) == 0 ? 1 : 0;
    const double noise = random.uniform() + random.uniform() + random.uniform();
    for (int i = 0; i < images_each; ++i) {
      images.patients.push_back(patient);
      images.scores.push_back(static_cast<float>(noise + 0.5 * label));
      images.scores.push_back(static_cast<float>(random.uniform()));
      images.labels.push_back(label);
      images.labels.push_back(0);  // no patient has the second finding
    }
  }
  return images;
}

TEST(AurocSummary, LeavesOutWhatIsUndefined) {
  const AurocSummary summary = summarize_auroc(drawn(1, 100, 1));
  ASSERT_EQ(summary.labels.size(), 2u);
  EXPECT_TRUE(summary.labels[0].value && summary.labels[0].ci95);
  EXPECT_FALSE(summary.labels[1].value || summary.labels[1].ci95);
  EXPECT_EQ(summary.labels[1].positives, 0u);
  EXPECT_EQ(summary.labels[1].negatives, 100u);
  EXPECT_DOUBLE_EQ(*summary.mean, *summary.labels[0].value);
}

// Only one patient has the second finding, and its score is wrong. Most resamples lack that patient, so their mean
// would be a mean over the other labels.
TEST(AurocSummary, TheMeansIntervalIsOverTheSameFindings) {
  ScoredImages images = drawn(3, 200, 1);
  for (std::size_t i = 0; i < images.images(); ++i) images.scores[2 * i + 1] = 1;
  images.labels[1] = 1;
  images.scores[1] = 0;
  const AurocSummary summary = summarize_auroc(images);
  EXPECT_EQ(*summary.labels[1].value, 0);
  ASSERT_TRUE(summary.mean_ci95);
  EXPECT_LT(summary.mean_ci95->low, *summary.mean);
  EXPECT_GT(summary.mean_ci95->high, *summary.mean);
  EXPECT_LT(summary.mean_ci95->high, 0.6);
}

TEST(AurocSummary, OfNoImagesIsEmpty) {
  const AurocSummary summary = summarize_auroc({.columns = 1, .scores = {}, .labels = {}, .patients = {}});
  EXPECT_FALSE(summary.mean || summary.mean_ci95);
}

// Copies of one patient's image carry no more information than one of them.
TEST(AurocSummary, DrawsPatientsNotImages) {
  const Interval one = *summarize_auroc(drawn(2, 80, 1)).labels[0].ci95;
  const Interval copies = *summarize_auroc(drawn(2, 80, 10)).labels[0].ci95;
  EXPECT_NEAR(one.high - one.low, copies.high - copies.low, 0.05);
  ScoredImages strangers = drawn(2, 80, 10);
  for (std::uint32_t i = 0; i < strangers.patients.size(); ++i) strangers.patients[i] = i;
  const Interval narrow = *summarize_auroc(strangers).labels[0].ci95;
  EXPECT_LT(narrow.high - narrow.low, 0.6 * (copies.high - copies.low));
}

// The interval must contain the true value in about 95 of 100 sets; with fewer than 88 it is wrong (p < 0.003).
TEST(AurocSummary, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const double truth = *summarize_auroc(drawn(99, 20000, 1)).labels[0].value;
  int held = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Interval interval = *summarize_auroc(drawn(1000 + seed, 150, 1)).labels[0].ci95;
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 88);
}

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
