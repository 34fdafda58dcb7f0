#include "analysis/learning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "results/parse_report.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Returns epochs of 10 s with these mean AUROCs, each with an interval of 0.01 to both sides. Negative values mean that
// it is undefined.
std::vector<results::EpochRecord> epochs(const std::vector<double>& aurocs) {
  std::vector<results::EpochRecord> records;
  for (const double auroc : aurocs) {
    results::EpochRecord& epoch = records.emplace_back();
    epoch.epoch = static_cast<int>(records.size());
    epoch.elapsed_s = 10.0 * epoch.epoch;
    epoch.training_loss = 0.5;
    epoch.validation_loss = 0.25;
    if (auroc >= 0) {
      epoch.mean_auroc = auroc;
      epoch.mean_auroc_ci95 = measure::Interval{auroc - 0.01, auroc + 0.01};
      epoch.scores = {{"Mass", auroc, measure::Interval{auroc - 0.02, auroc}, 3, 40}, {"Hernia", {}, {}, 0, 43}};
    }
  }
  return records;
}

// Returns a trial with one repeat for each list of AUROCs.
results::TrialResult learned(const std::vector<std::vector<double>>& repeats, int ranks = 1) {
  results::TrialResult trial =
      results::make_trial({.ranks = ranks, .engine = "onednn"}, std::vector<double>(repeats.size(), 100));
  trial.spec.training.epochs = static_cast<int>(repeats.front().size());
  trial.spec.training.target_auroc = 0.8;
  for (std::size_t i = 0; i < repeats.size(); ++i) trial.repeats[i].epochs = epochs(repeats[i]);
  return trial;
}

TEST(Learning, IsToldOfTheBestEpoch) {
  const results::TrialResult trial = learned({{0.6, 0.85, 0.84}});
  EXPECT_EQ(representative_epoch(trial)->epoch, 2);
  EXPECT_EQ(time_to_auroc_s(trial), 20);
  EXPECT_THAT(learning_findings({&trial}),
              ElementsAre(Field(&results::Finding::text,
                                "optimized png ranks=1 reaches a mean AUROC of 0.850 (95 % interval "
                                "0.840 to 0.860) after epoch 2 of 3, in 20 s; 0.8 took 20 s.")));
}

TEST(Learning, StandsForTheRepeatInTheMiddle) {
  const results::TrialResult trial = learned({{0.9, 0.7}, {0.5, 0.6}, {0.81, 0.82}});
  EXPECT_EQ(*representative_epoch(trial)->mean_auroc, 0.82);
  EXPECT_FALSE(time_to_auroc_s(trial)) << "one repeat never got there";
  EXPECT_EQ(time_to_auroc_s(learned({{0.9, 0.7}, {0.5, 0.8}, {0.81, 0.82}})), 10);
}

TEST(Learning, OfClassesIsToldByTheirAccuracy) {
  results::TrialResult trial = learned({{-1, -1, -1}});
  for (std::size_t i = 0; i < 3; ++i) {
    results::EpochRecord& epoch = trial.repeats[0].epochs[i];
    epoch.top1 = i == 1 ? 0.7 : 0.6;
    epoch.top1_ci95 = measure::Interval{0.65, 0.75};
    epoch.top5 = 0.9;
  }
  trial.spec.training.target_auroc = {};
  EXPECT_EQ(representative_epoch(trial)->epoch, 2);
  EXPECT_THAT(learning_findings({&trial}),
              ElementsAre(Field(&results::Finding::text,
                                "optimized png ranks=1 reaches a top-1 accuracy of 0.700 (95 % interval 0.650 to "
                                "0.750) and top-5 of 0.900 after epoch 2 of 3, in 20 s.")));
  EXPECT_THAT(report::result_table(results::make_report({trial})), HasSubstr("AUROC or top-1"));
}

TEST(Learning, OfNothingDefinedIsNothing) {
  const results::TrialResult trial = learned({{-1, -1}});
  EXPECT_EQ(representative_epoch(trial), nullptr);
  EXPECT_THAT(learning_findings({&trial}), IsEmpty());
  EXPECT_THAT(report::result_table(results::make_report({trial})), Not(HasSubstr("What was learned")));
}

TEST(Learning, IsComparedOverRanks) {
  const std::vector<results::TrialResult> trials{learned({{0.85}}), learned({{0.84}}, 2), learned({{0.7}}, 4)};
  const auto findings = learning_findings(results::pointers(trials));
  ASSERT_THAT(findings, SizeIs(5));
  EXPECT_THAT(findings[3].text, HasSubstr("ranks=2 and optimized png ranks=1 learn the same as far as can be told"));
  EXPECT_THAT(findings[4].text, HasSubstr("ranks=4 and optimized png ranks=1 do not learn the same: mean AUROC 0.700"));
}

TEST(Learning, ComesBackFromJson) {
  const results::Report report = results::make_report({learned({{0.6, -1}})});
  const auto read = results::report_from_json(report::to_json(report), "x").trials.at(0).repeats.at(0).epochs;
  ASSERT_THAT(read, SizeIs(2));
  EXPECT_EQ(read[0].mean_auroc, 0.6);
  EXPECT_DOUBLE_EQ(read[0].mean_auroc_ci95->low, 0.59);
  EXPECT_EQ(read[0].scores.at(0).label, "Mass");
  EXPECT_FALSE(read[0].scores.at(1).auroc);
  EXPECT_EQ(read[0].scores.at(1).negatives, 43u);
  EXPECT_FALSE(read[1].mean_auroc || read[1].mean_auroc_ci95);
}

TEST(Learning, HasRowsOfEpochsAndOfFindings) {
  const results::Report report = results::make_report({learned({{0.6, -1}})});
  EXPECT_EQ(report::epochs_csv(report),
            "experiment,trial,repeat,epoch,learning_rate,training_loss,validation_loss,mean_auroc,mean_auroc_ci95_low,"
            "mean_auroc_ci95_high,top1,top1_ci95_low,top1_ci95_high,top5,validation_images,validation_s,elapsed_s\n"
            "naive-vs-optimized,optimized png ranks=1,0,1,0,0.5,0.25,0.6,0.59,0.61,,,,,0,0,10\n"
            "naive-vs-optimized,optimized png ranks=1,0,2,0,0.5,0.25,,,,,,,,0,0,20\n");
  EXPECT_EQ(report::aurocs_csv(report),
            "experiment,trial,repeat,epoch,finding,auroc,auroc_ci95_low,auroc_ci95_high,positives,negatives\n"
            "naive-vs-optimized,optimized png ranks=1,0,1,Mass,0.6,0.58,0.6,3,40\n"
            "naive-vs-optimized,optimized png ranks=1,0,1,Hernia,,,,0,43\n");
  EXPECT_EQ(report::epochs_csv(results::make_report({results::make_trial({}, {100})})), "");
}

}  // namespace
}  // namespace chexbench::analysis
