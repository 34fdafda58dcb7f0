#include "analysis/learning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/errors.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "results/read.hpp"
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
                                "optimized images ranks=1 reaches a mean AUROC of 0.850 (95 % interval "
                                "0.840 to 0.860) after epoch 2 of 3, in 20 s; 0.8 took 20 s.")));
}

TEST(Learning, StandsForTheRepeatInTheMiddle) {
  const results::TrialResult trial = learned({{0.9, 0.7}, {0.5, 0.6}, {0.81, 0.82}});
  EXPECT_EQ(*representative_epoch(trial)->mean_auroc, 0.82);
  EXPECT_FALSE(time_to_auroc_s(trial)) << "one repeat never got there";
  EXPECT_EQ(time_to_auroc_s(learned({{0.9, 0.7}, {0.5, 0.8}, {0.81, 0.82}})), 10);
}

TEST(Learning, TellsTheBestRepeatAndHowFarTheyLieApart) {
  const results::TrialResult trial = learned({{0.9, 0.7}, {-1, -1}, {0.5, 0.6}, {0.81, 0.82}});
  const std::optional<AurocSpread> spread = auroc_spread(trial);
  ASSERT_TRUE(spread);
  EXPECT_EQ(spread->repeats, 3) << "one never had an AUROC";
  EXPECT_EQ(spread->best_repeat, 0);
  EXPECT_EQ(spread->best, 0.9);
  EXPECT_EQ(spread->worst, 0.6);
  EXPECT_NEAR(spread->deviation, 0.15535, 1e-5);
  EXPECT_THAT(
      learning_findings({&trial}).front().text,
      HasSubstr("The best of 3 repeats is repeat 0 with 0.900; they lie from 0.600 to 0.900 (standard deviation "
                "0.155)."));
  EXPECT_THAT(report::result_table(results::make_report({trial})), HasSubstr("0.600 to 0.900"));
  EXPECT_FALSE(auroc_spread(learned({{0.9, 0.7}})));
}

TEST(Learning, TellsThatATrainingEndedEarlyAndByWhichImagesItWasJudged) {
  results::TrialResult trial = learned({{0.85, 0.84, 0.83}});
  trial.spec.training.epochs = 30;
  EXPECT_THAT(learning_findings({&trial}).front().text, Not(HasSubstr("It ended"))) << "it may have been interrupted";
  trial.spec.training.stop_patience = 2;
  trial.spec.training.validation_share = 0;
  EXPECT_THAT(
      learning_findings({&trial}).front().text,
      HasSubstr("after epoch 1 of 30, in 10 s; 0.8 took 10 s. It ended after 3 epochs because 2 were not better. This "
                "was measured on the training images, because training.validation_share is 0."));
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
                                "optimized images ranks=1 reaches a top-1 accuracy of 0.700 (95 % interval 0.650 to "
                                "0.750) and top-5 of 0.900 after epoch 2 of 3, in 20 s.")));
  EXPECT_THAT(report::result_table(results::make_report({trial})),
              AllOf(HasSubstr("AUROC or top-1"), HasSubstr("training loss"), HasSubstr("validation loss")));
  EXPECT_THAT(report::result_table(results::make_report({trial}), {.brief = true}),
              AllOf(HasSubstr("AUROC or top-1"), Not(HasSubstr(" loss"))));
  trial.repeats.push_back(trial.repeats[0]);
  EXPECT_FALSE(auroc_spread(trial)) << "classes have no AUROC";
  EXPECT_THAT(learning_findings({&trial}).front().text, Not(HasSubstr("The best of")));
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
  EXPECT_THAT(findings[3].text,
              HasSubstr("ranks=2 and optimized images ranks=1 learn equally well within their intervals"));
  EXPECT_THAT(findings[4].text,
              HasSubstr("ranks=4 and optimized images ranks=1 do not learn equally well: mean AUROC 0.700"));
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

// The report of a training whose best epoch has the curves of one label.
results::Report curved() {
  results::TrialResult trial = learned({{0.6}});
  results::LabelCurves mass{.label = "Mass", .roc = {}};
  for (std::size_t point = 0; point < measure::kRocPoints; ++point)
    mass.roc[point] = {.value = measure::false_positive_rate_at(point), .ci95 = {}};
  mass.roc[25].ci95 = measure::Interval{0.25, 0.75};
  mass.reliability[9] = {.images = 3, .positives = 2, .sum_of_probabilities = 2.75};
  trial.repeats[0].epochs[0].curves = {mass};
  return results::make_report({trial});
}

TEST(Curves, ComeBackFromJson) {
  const std::string text = report::to_json(curved());
  const results::Report read = results::report_from_json(text, "x");
  const results::LabelCurves& mass = read.trials.at(0).repeats.at(0).epochs.at(0).curves.at(0);
  EXPECT_EQ(mass.label, "Mass");
  EXPECT_EQ(mass.roc[25].value, 0.5);
  EXPECT_EQ(mass.roc[25].ci95->high, 0.75);
  EXPECT_FALSE(mass.roc[24].ci95);
  EXPECT_EQ(mass.reliability[9].positives, 2u);
  EXPECT_EQ(report::to_json(read), text);
}

TEST(Curves, AreRefusedWithAnotherNumberOfPoints) {
  std::string text = report::to_json(curved());
  const std::size_t begin = text.find("\"reliability\"");
  text.replace(text.find('[', begin), text.find(']', begin) - text.find('[', begin), "[{\"images\": 1}");
  EXPECT_THAT([&] { results::report_from_json(text, "old/report.json"); },
              testing::ThrowsMessage<DataError>(
                  AllOf(HasSubstr("old/report.json"), HasSubstr("'reliability' has 1 bins, not 10"))));
}

TEST(Curves, HaveRowsOfPointsAndOfBins) {
  const std::string roc = report::csv_text("roc.csv", curved());
  EXPECT_THAT(roc, testing::StartsWith("experiment,trial,repeat,epoch,finding,false_positive_rate,sensitivity,"
                                       "sensitivity_ci95_low,sensitivity_ci95_high\n"
                                       "naive-vs-optimized,optimized images ranks=1,0,1,Mass,0,0,,\n"));
  EXPECT_THAT(roc, HasSubstr(",0,1,Mass,0.5,0.5,0.25,0.75\n"));
  EXPECT_THAT(report::csv_text("reliability.csv", curved()),
              HasSubstr(",Mass,0.9,1,3,2,0.9166666666666666,0.6666666666666666\n"));
  EXPECT_EQ(report::csv_text("roc.csv", results::make_report({learned({{0.6}})})), "") << "of an older version";
}

TEST(Learning, HasRowsOfEpochsAndOfFindings) {
  const results::Report report = results::make_report({learned({{0.6, -1}})});
  EXPECT_EQ(report::csv_text("epochs.csv", report),
            "experiment,trial,repeat,epoch,learning_rate,training_loss,validation_loss,mean_auroc,mean_auroc_ci95_low,"
            "mean_auroc_ci95_high,top1,top1_ci95_low,top1_ci95_high,top5,validation_images,validation_s,elapsed_s\n"
            "naive-vs-optimized,optimized images ranks=1,0,1,0,0.5,0.25,0.6,0.59,0.61,,,,,0,0,10\n"
            "naive-vs-optimized,optimized images ranks=1,0,2,0,0.5,0.25,,,,,,,,0,0,20\n");
  EXPECT_EQ(report::csv_text("aurocs.csv", report),
            "experiment,trial,repeat,epoch,finding,auroc,auroc_ci95_low,auroc_ci95_high,positives,negatives\n"
            "naive-vs-optimized,optimized images ranks=1,0,1,Mass,0.6,0.58,0.6,3,40\n"
            "naive-vs-optimized,optimized images ranks=1,0,1,Hernia,,,,0,43\n");
  EXPECT_EQ(report::csv_text("epochs.csv", results::make_report({results::make_trial({}, {100})})), "");
}

}  // namespace
}  // namespace chexbench::analysis
