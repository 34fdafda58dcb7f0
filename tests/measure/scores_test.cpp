#include "measure/scores.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.hpp"

namespace chexbench::measure {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<float>;

TEST(AveragePrecision, IsThatOfScikitLearn) {
  // average_precision_score's example: 0.5 of the recall at precision 1, the rest at precision 2/3.
  EXPECT_DOUBLE_EQ(*average_precision(Scores{0.1f, 0.4f, 0.35f, 0.8f}, Labels{0, 0, 1, 1}), 0.5 * 1 + 0.5 * 2 / 3);
  EXPECT_DOUBLE_EQ(*average_precision(Scores{1, 2, 3, 4}, Labels{0, 0, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(*average_precision(Scores{4, 3, 2, 1}, Labels{0, 0, 1, 1}), 0.5 * 1 / 3 + 0.5 * 2 / 4);
  EXPECT_DOUBLE_EQ(*average_precision(Scores{1, 2}, Labels{1, 1}), 1);
  EXPECT_FALSE(average_precision(Scores{1, 2}, Labels{0, 0}));
}

TEST(AveragePrecision, TakesEqualScoresAsOneThreshold) {
  EXPECT_DOUBLE_EQ(*average_precision(Scores{7, 7, 7, 7}, Labels{0, 1, 0, 1}), 0.5) << "in any order of the images";
  EXPECT_DOUBLE_EQ(*average_precision(Scores{1, 2, 2, 3}, Labels{0, 0, 1, 1}), 0.5 * 1 + 0.5 * 2 / 3);
}

// Computes it by the definition: at each distinct score, from the highest on, the recall gained times the precision.
double by_thresholds(const Scores& scores, const Labels& labels) {
  double sum = 0, before = 0;
  const auto positives = static_cast<double>(std::count(labels.begin(), labels.end(), 1));
  for (float threshold = 12; threshold >= 0; --threshold) {
    double found = 0, chosen = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] < threshold) continue;
      ++chosen;
      found += labels[i];
    }
    if (chosen > 0) sum += (found - before) / positives * found / chosen;
    before = found;
  }
  return sum;
}

TEST(AveragePrecision, IsTheSumOverThresholds) {
  RandomStream random(1);
  for (int round = 0; round < 50; ++round) {
    Scores scores;
    Labels labels{1};
    for (int i = 0; i < 40; ++i) scores.push_back(static_cast<float>(random.below(12)));  // many ties
    while (labels.size() < scores.size()) labels.push_back(static_cast<std::uint8_t>(random.below(3) == 0));
    EXPECT_NEAR(*average_precision(scores, labels), by_thresholds(scores, labels), 1e-12);
  }
}

TEST(Reliability, HasTenBinsOfEqualWidth) {
  const auto bins = reliability(Scores{0, 0.05f, 0.1f, 0.55f, 0.58f, 1}, Labels{0, 1, 0, 1, 1, 1});
  EXPECT_EQ(bins[0].images, 2u);
  EXPECT_EQ(bins[0].positives, 1u);
  EXPECT_NEAR(*bins[0].mean_probability(), 0.025, 1e-8);
  EXPECT_DOUBLE_EQ(*bins[0].share_of_positives(), 0.5);
  EXPECT_EQ(bins[1].images, 1u) << "a bin has its lower end";
  EXPECT_EQ(bins[5].images, 2u);
  EXPECT_DOUBLE_EQ(*bins[5].share_of_positives(), 1);
  EXPECT_EQ(bins[9].images, 1u) << "the last one also its upper end";
  EXPECT_FALSE(bins[2].mean_probability() || bins[2].share_of_positives());
}

// Two labels of each of four images of two patients; no image has the third.
ScoredImages four_images() {
  return {.columns = 3,
          .scores = {0.1f, 0.5f, 0.2f, 0.4f, 0.5f, 0.2f, 0.35f, 0.25f, 0.2f, 0.8f, 0.75f, 0.2f},
          .labels = {0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0},
          .patients = {1, 2, 1, 2}};
}

TEST(ScoreSummary, HasTheFiguresOfEachLabel) {
  const ScoreSummary summary = summarize_scores(four_images());
  ASSERT_EQ(summary.labels.size(), 3u);
  const LabelScores& first = summary.labels[0];
  EXPECT_DOUBLE_EQ(*first.auroc.value, 0.75);
  EXPECT_DOUBLE_EQ(*first.average_precision.value, 0.5 + 1.0 / 3);
  EXPECT_NEAR(*first.brier.value, (0.01 + 0.16 + 0.4225 + 0.04) / 4, 1e-7);
  EXPECT_EQ(first.positives, 2u);
  EXPECT_EQ(first.negatives, 2u);
  EXPECT_EQ(first.reliability[3].images, 1u);
}

TEST(ScoreSummary, LeavesOutOfTheMeansWhatLacksPositives) {
  const ScoreSummary summary = summarize_scores(four_images());
  const LabelScores& absent = summary.labels[2];
  EXPECT_FALSE(absent.is_judged());
  EXPECT_FALSE(absent.auroc.value || absent.average_precision.value);
  EXPECT_NEAR(*absent.brier.value, 0.04, 1e-8) << "which is defined, but not in the mean";
  for (const auto& [mean, figure] : {std::pair(&ScoreSummary::mean_auroc, &LabelScores::auroc),
                                     std::pair(&ScoreSummary::mean_average_precision, &LabelScores::average_precision),
                                     std::pair(&ScoreSummary::mean_brier, &LabelScores::brier)}) {
    EXPECT_DOUBLE_EQ(*(summary.*mean).value,
                     (*(summary.labels[0].*figure).value + *(summary.labels[1].*figure).value) / 2);
  }
}

TEST(ScoreSummary, HasTheAurocOfAValidation) {
  RandomStream random(3);
  ScoredImages images{.columns = 2, .scores = {}, .labels = {}, .patients = {}};
  for (std::uint32_t image = 0; image < 120; ++image) {
    images.patients.push_back(image / 2);
    for (int label = 0; label < 2; ++label) {
      images.labels.push_back(random.below(4) == 0 ? 1 : 0);
      images.scores.push_back(static_cast<float>(0.6 * random.uniform() + 0.3 * images.labels.back()));
    }
  }
  const ScoreSummary summary = summarize_scores(images);
  const AurocSummary validation = summarize_auroc(images);
  EXPECT_EQ(summary.mean_auroc.value, validation.mean);
  EXPECT_EQ(summary.mean_auroc.ci95->low, validation.mean_ci95->low);
  EXPECT_EQ(summary.labels[1].auroc.ci95->high, validation.labels[1].ci95->high);
}

// A resample of two patients is one of them twice (a quarter each) or both. With 1,000 resamples the 2.5 % ends are
// therefore the figures of the two patients alone.
TEST(PatientBootstrap, DrawsWholePatients) {
  const std::vector<double> values = {1, 2, 30, 40};
  const std::vector<Estimate> estimates = bootstrap_over_patients({7, 7, 9, 9}, 1, [&](auto weight, auto figures) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += weight[i] * values[i];
      count += weight[i];
    }
    figures[0] = sum / count;
    EXPECT_EQ(count, 4);
  });
  EXPECT_DOUBLE_EQ(*estimates[0].value, 73.0 / 4);
  EXPECT_DOUBLE_EQ(estimates[0].ci95->low, 1.5);
  EXPECT_DOUBLE_EQ(estimates[0].ci95->high, 35);
}

TEST(PatientBootstrap, HasNoIntervalOfWhatIsSeldomDefined) {
  const std::vector<Estimate> estimates = bootstrap_over_patients({1, 2}, 1, [&](auto weight, auto figures) {
    figures[0] = weight[0] == 2 ? std::optional(1.0) : std::nullopt;  // in about a quarter of the resamples
  });
  EXPECT_FALSE(estimates[0].value || estimates[0].ci95);
}

TEST(PatientBootstrap, AMeanIsAlwaysOverTheSameFigures) {
  MeanOfDefined mean;
  using Values = std::vector<std::optional<double>>;
  EXPECT_EQ(mean(Values{1, std::nullopt, 4}), 2.5);
  EXPECT_EQ(mean(Values{2, std::nullopt, 4}), 3);
  EXPECT_EQ(mean(Values{2, std::nullopt, std::nullopt}), std::nullopt);
  EXPECT_EQ(mean(Values{2, 3, 4}), std::nullopt);
}

// An image with an unknown label counts only for its other labels.
TEST(Scores, LeaveUnknownLabelsOut) {
  RandomStream random(3);
  ScoredImages all{.columns = 2, .scores = {}, .labels = {}, .patients = {}}, known = all;
  for (std::uint32_t image = 0; image < 40; ++image) {
    const float first = static_cast<float>(random.uniform()), second = static_cast<float>(random.uniform());
    const auto label = static_cast<std::uint8_t>(random.below(2));
    const bool is_known = image % 3 != 0;
    all.patients.push_back(image);
    all.scores.insert(all.scores.end(), {first, second});
    all.labels.insert(all.labels.end(), {is_known ? label : kUnknown, label});
    if (!is_known) continue;
    known.patients.push_back(image);
    known.scores.insert(known.scores.end(), {first, second});
    known.labels.insert(known.labels.end(), {label, label});
  }
  const ScoreSummary summary = summarize_scores(all), expected = summarize_scores(known);
  EXPECT_EQ(summary.labels[0].auroc.value, expected.labels[0].auroc.value);
  EXPECT_EQ(summary.labels[0].average_precision.value, expected.labels[0].average_precision.value);
  EXPECT_EQ(summary.labels[0].brier.value, expected.labels[0].brier.value);
  EXPECT_EQ(summary.labels[0].positives, expected.labels[0].positives);
  EXPECT_EQ(summary.labels[0].negatives, expected.labels[0].negatives);
  EXPECT_EQ(summary.labels[1].positives + summary.labels[1].negatives, 40u);
  EXPECT_TRUE(summary.labels[0].auroc.ci95);
  EXPECT_EQ(summarize_auroc(all).labels[0].value, expected.labels[0].auroc.value);
}

TEST(CalibrationError, IsTheMeanDistanceOfTheBins) {
  const std::vector<float> scores{0.05f, 0.05f, 0.95f, 0.95f};
  const auto error = [&](const std::vector<std::uint8_t>& has) { return calibration_error(reliability(scores, has)); };
  EXPECT_NEAR(*error({0, 0, 1, 1}), 0.05, 1e-6);
  EXPECT_NEAR(*error({1, 1, 0, 0}), 0.95, 1e-6);
  EXPECT_NEAR(*error({0, 1, 0, 1}), 0.45, 1e-6);
  EXPECT_FALSE(calibration_error({}));
}

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
