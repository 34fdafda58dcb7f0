#include "verbs/diagnose/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// `number` steps of 100 ms and 16 images that wait for `wait_share` of them.
std::vector<LoggedStep> steps_of(std::size_t number, double wait_share, int rank = 0, int epoch = 0) {
  return std::vector<LoggedStep>(
      number, {.rank = rank, .epoch = epoch, .wait_s = 0.1 * wait_share, .step_s = 0.1, .images = 16});
}

std::vector<LoggedStep> joined(std::vector<LoggedStep> a, const std::vector<LoggedStep>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Diagnosis diagnose(const std::vector<LoggedStep>& steps) { return verbs::diagnose(StepLog{.steps = steps}); }

std::vector<std::string> kinds(const Diagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const results::Finding& finding : diagnosis.findings) all.push_back(finding.kind);
  return all;
}

std::string text_of(const Diagnosis& diagnosis, const std::string& kind) {
  for (const results::Finding& finding : diagnosis.findings) {
    if (finding.kind == kind) return finding.text;
  }
  return "no such finding";
}

TEST(Diagnose, FindsAStarvedTrainingAndTheRateThatWouldFeedIt) {
  const Diagnosis diagnosis = diagnose(steps_of(20, 0.6));
  EXPECT_NEAR(diagnosis.wait_share, 0.6, 1e-12);
  EXPECT_NEAR(diagnosis.images_per_s, 160, 1e-9);
  EXPECT_NEAR(*diagnosis.images_per_s_without_wait, 400, 1e-9);
  EXPECT_THAT(kinds(diagnosis), ElementsAre("starved", "needed_rate"));
  EXPECT_EQ(diagnosis.findings[0].text,
            "This training starves its accelerator: it waits for batches 60 % of the time; 160 images/s; at most "
            "400 without the wait.");
  EXPECT_EQ(diagnosis.findings[1].text, "The input must deliver 400 images/s to feed it, 2.50 x what it delivers now.");
}

TEST(Diagnose, IsNotSureOfAFewSteps) {
  const Diagnosis one = diagnose(steps_of(2, 0.6));
  EXPECT_THAT(kinds(one), ElementsAre("sample_too_small", "starved", "needed_rate"));
  for (const results::Finding& finding : one.findings) EXPECT_EQ(finding.grade, results::Grade::sample_too_small);
  EXPECT_THAT(one.findings[0].text, HasSubstr("a rank has 1 step besides the first ones of epochs"));
  EXPECT_EQ(diagnose(joined(steps_of(100, 0.6, 0), steps_of(10, 0.6, 1))).findings[0].kind, "sample_too_small");
}

TEST(Diagnose, FindsATrainingThatIsFed) {
  const Diagnosis diagnosis = diagnose(steps_of(20, 0.01));
  EXPECT_THAT(kinds(diagnosis), ElementsAre("fed"));
}

TEST(Diagnose, SaysHowMuchATrainingWaitsBetweenTheTwo) {
  EXPECT_THAT(text_of(diagnose(steps_of(20, 0.05)), "waits"), HasSubstr("5 % of the time: 160 images/s; at most 168"));
}

TEST(Diagnose, PredictsNothingWhereStepsOnlyWait) {
  const Diagnosis diagnosis = diagnose(steps_of(20, 1));
  EXPECT_FALSE(diagnosis.images_per_s_without_wait);
  EXPECT_THAT(kinds(diagnosis), ElementsAre("starved"));
}

TEST(Diagnose, LeavesTheFirstStepOfEachEpochOutOfItsShares) {
  std::vector<LoggedStep> steps = joined(steps_of(10, 0, 0, 0), steps_of(10, 0, 0, 1));
  for (const std::size_t first : {0u, 10u})
    steps[first] = {.epoch = steps[first].epoch, .wait_s = 1, .step_s = 1.1, .images = 16};
  const Diagnosis diagnosis = diagnose(steps);
  EXPECT_EQ(diagnosis.left_out, 2);
  EXPECT_EQ(diagnosis.wait_share, 0);
  ASSERT_THAT(diagnosis.outliers, SizeIs(2));
  EXPECT_EQ(diagnosis.outliers[1].index, 10);
  EXPECT_TRUE(diagnosis.outliers[1].first_of_epoch);
  EXPECT_EQ(diagnosis.epoch_starts, 1);  // the very first one also builds and compiles
  EXPECT_NEAR(diagnosis.epoch_start_share, 1.0 / 4.0, 1e-12);
  EXPECT_THAT(kinds(diagnosis), ElementsAre("fed", "epoch_starts"));
  EXPECT_THAT(text_of(diagnosis, "epoch_starts"),
              AllOf(HasSubstr("takes 1 s more"), HasSubstr("25 %"), HasSubstr("persistent_workers")));
}

TEST(Diagnose, DoesNotBlameTheInputForEpochStartsThatDoNotWait) {
  std::vector<LoggedStep> steps = joined(steps_of(10, 0, 0, 0), steps_of(10, 0, 0, 1));
  steps[10].step_s = 1.1;
  EXPECT_THAT(text_of(diagnose(steps), "epoch_starts"),
              AllOf(HasSubstr("little of it is wait"), Not(HasSubstr("workers"))));
}

TEST(Diagnose, UsesALogOfFirstStepsAlone) {
  const Diagnosis diagnosis = diagnose(steps_of(1, 0.5));
  EXPECT_EQ(diagnosis.left_out, 0);
  EXPECT_NEAR(diagnosis.wait_share, 0.5, 1e-12);
}

TEST(Diagnose, CountsBurstsAsTheWaitThatTheyAre) {
  std::vector<LoggedStep> steps = steps_of(33, 0);  // every eighth batch comes late, followed at once by seven more
  for (std::size_t i = 1; i < steps.size(); i += 8) steps[i] = {.wait_s = 0.8, .step_s = 0.9, .images = 16};
  const Diagnosis diagnosis = diagnose(steps);
  EXPECT_NEAR(diagnosis.wait_share, 0.5, 1e-12);
  EXPECT_THAT(diagnosis.outliers, SizeIs(4));
  EXPECT_THAT(text_of(diagnosis, "outliers"), AllOf(HasSubstr("4 of 32 steps"), HasSubstr("bursts")));
}

TEST(Diagnose, SendsOutliersThatDoNotWaitElsewhere) {
  std::vector<LoggedStep> steps = steps_of(21, 0);
  steps[10].step_s = 2;
  EXPECT_THAT(text_of(diagnose(steps), "outliers"), HasSubstr("look at what runs between steps"));
}

TEST(Diagnose, SumsTheImagesOfRanksThatGoAtOnePace) {
  const Diagnosis diagnosis = diagnose(joined(steps_of(20, 0.5, 0), steps_of(20, 0.5, 1)));
  EXPECT_NEAR(diagnosis.images_per_s, 320, 1e-9);
  EXPECT_THAT(text_of(diagnosis, "needed_rate"), HasSubstr("must deliver 640 images/s (320 a rank) to feed it"));
  EXPECT_THAT(kinds(diagnosis), Not(Contains("slow_rank")));
}

TEST(Diagnose, NamesTheRankWhoseInputTheOthersWaitFor) {
  std::vector<LoggedStep> steps = steps_of(20, 0.4, 1);
  for (const int rank : {0, 2, 3}) steps = joined(steps, steps_of(20, 0.01, rank));
  const Diagnosis diagnosis = diagnose(steps);
  EXPECT_THAT(text_of(diagnosis, "slow_rank"),
              HasSubstr("Rank 1 waits for its input for 40 % of the time, the others for 1 %"));
  EXPECT_NEAR(*diagnosis.images_per_s_without_wait, 640 / 0.6, 1e-9);
  EXPECT_EQ(diagnosis.ranks.front().rank, 0);
}

TEST(Diagnose, NamesARankWhoseStepsTakeLonger) {
  std::vector<LoggedStep> slow = steps_of(20, 0, 1);
  for (LoggedStep& step : slow) step.step_s = 0.2;
  const Diagnosis diagnosis = diagnose(joined(joined(steps_of(20, 0, 0), slow), steps_of(20, 0, 2)));
  EXPECT_THAT(text_of(diagnosis, "slow_rank"), HasSubstr("Rank 1 takes 0.2 s a step, the others 0.1 s"));
  EXPECT_NEAR(diagnosis.images_per_s, 60 * 16 / 3.8 * 57 / 60, 1e-9);  // 19 steps a rank, at the pace of the slowest
}

TEST(Diagnose, CountsAMeanOfManyStepsAsManyAndLeavesNoneOut) {
  const Diagnosis diagnosis = verbs::diagnose({.steps = {{.wait_s = 0.05, .step_s = 0.1, .images = 16, .steps = 30},
                                                         {.step_s = 0.2, .images = 16, .steps = 10}}});
  EXPECT_EQ(diagnosis.steps, 40);
  EXPECT_EQ(diagnosis.left_out, 0);
  EXPECT_NEAR(diagnosis.wait_share, 1.5 / 5, 1e-12);
  EXPECT_NEAR(diagnosis.images_per_s, 640 / 5.0, 1e-9);
  EXPECT_THAT(kinds(diagnosis), ElementsAre("starved", "needed_rate"));
}

TEST(Diagnose, CountsStepsWhereTheLogDoesNotCountImagesAndSaysHowItWasRead) {
  std::vector<LoggedStep> steps = steps_of(20, 0.6);
  for (LoggedStep& step : steps) step.images = 1;
  const Diagnosis diagnosis = verbs::diagnose({.steps = steps, .counts_images = false, .notes = {"From a trace."}});
  EXPECT_THAT(kinds(diagnosis), ElementsAre("starved", "needed_rate", "how_read"));
  EXPECT_THAT(text_of(diagnosis, "starved"), HasSubstr("10.0 steps/s; at most 25.0"));
  EXPECT_THAT(text_of(diagnosis, "needed_rate"), HasSubstr("must deliver 25.0 steps/s to"));
  EXPECT_EQ(text_of(diagnosis, "how_read"), "From a trace.");
  EXPECT_THAT(format_diagnosis(diagnosis, "log", "table"), HasSubstr("steps/s"));
}

TEST(DiagnosisTable, ListsTenOutliersAndCountsTheRest) {
  std::vector<LoggedStep> steps = steps_of(50, 0);
  for (std::size_t i = 1; i <= 12; ++i) steps[i].step_s = 1;
  const std::string table = format_diagnosis(diagnose(steps), "log.csv", "table");
  EXPECT_THAT(table, AllOf(HasSubstr("log.csv: 50 steps of 1 rank; the first step of each epoch (1 in all)"),
                           HasSubstr("and 2 more\n"), StartsWith("This training keeps its accelerator fed")));
  const std::string brief = format_diagnosis(diagnose(steps), "log.csv", "table", 100, true);
  EXPECT_THAT(brief, AllOf(StartsWith("This training keeps its accelerator fed"), Not(HasSubstr("mean step")),
                           Not(HasSubstr("more than 3 times their")), HasSubstr("--explain")));
}

TEST(DiagnosisJson, HoldsTheFigures) {
  const nlohmann::json json = nlohmann::json::parse(format_diagnosis(diagnose(steps_of(20, 0.6)), "log.csv", "json"));
  EXPECT_EQ(json["verdict"], "starved");
  EXPECT_NEAR(json["wait_share"], 0.6, 1e-12);
  EXPECT_NEAR(json["images_per_s_without_wait"], 400, 1e-9);
  EXPECT_EQ(json["ranks"].at(0)["steps"], 19);
  EXPECT_THAT(json["outliers"], IsEmpty());
  EXPECT_TRUE(nlohmann::json::parse(format_diagnosis(diagnose(steps_of(2, 1)), "", "json"))["images_per_s_without_wait"]
                  .is_null());
}

}  // namespace
}  // namespace chexbench::verbs
