#include "measure/auroc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.hpp"

namespace chexbench::measure {
namespace {

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

}  // namespace
}  // namespace chexbench::measure
