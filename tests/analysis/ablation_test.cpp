#include "analysis/ablation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

results::TrialResult step(const std::string& pipeline, double images_per_s, int ranks = 2) {
  return results::make_trial({.pipeline = pipeline, .ranks = ranks}, std::vector<double>(5, images_per_s));
}

TEST(Ablation, HoldsEachStepAgainstTheOneBeforeAndTheFirst) {
  const std::vector<results::TrialResult> trials{
      step("naive", 100), results::make_trial({.pipeline = "keras", .ranks = 2}, {40, 45, 50, 55, 60}),
      step("optimized", 200)};
  const auto all = ablations(results::pointers(trials));
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].over, "images, 2 ranks");
  ASSERT_THAT(all[0].steps,
              ElementsAre(Field(&AblationStep::trial, &trials[0]), Field(&AblationStep::trial, &trials[1]),
                          Field(&AblationStep::trial, &trials[2])));
  const AblationStep& naive = all[0].steps[0];
  const AblationStep& keras = all[0].steps[1];
  const AblationStep& optimized = all[0].steps[2];
  EXPECT_FALSE(naive.to_before || naive.to_first);
  EXPECT_EQ(keras.name, "keras");
  EXPECT_DOUBLE_EQ(keras.images_per_s, 50);
  EXPECT_DOUBLE_EQ(keras.to_before->value, 0.5);
  EXPECT_DOUBLE_EQ(keras.to_before->ci95->low, 0.4);
  EXPECT_DOUBLE_EQ(keras.to_before->ci95->high, 0.6);
  EXPECT_DOUBLE_EQ(optimized.to_before->value, 4);
  EXPECT_DOUBLE_EQ(optimized.to_first->value, 2);
}

TEST(Ablation, HasNoRatioOfTrialsThatShareNoRound) {
  std::vector<results::TrialResult> trials{step("naive", 100), step("keras", 50), step("optimized", 200)};
  for (results::RepeatResult& repeat : trials[1].repeats) repeat.repeat += 100;
  const auto all = ablations(results::pointers(trials));
  EXPECT_FALSE(all.at(0).steps.at(1).to_before);
  EXPECT_FALSE(all.at(0).steps.at(2).to_before);
  EXPECT_DOUBLE_EQ(all.at(0).steps.at(2).to_first->value, 2);
  EXPECT_THAT(ablation_findings(results::pointers(trials)).at(0).text,
              HasSubstr("; keras (not measured alternately);"));
}

TEST(Ablation, NamesStepsOfOnePipelineByTheirTrials) {
  std::vector<results::TrialResult> trials(3, step("optimized", 100));
  for (std::size_t i = 0; i < trials.size(); ++i) trials[i].name = "parallel_calls=" + std::to_string(i);
  const auto all = ablations(results::pointers(trials));
  EXPECT_EQ(all.at(0).steps.at(2).name, "parallel_calls=2");
}

TEST(Ablation, TellsApartWhatDiffersInOtherKeys) {
  std::vector<results::TrialResult> trials;
  for (const int batch : {16, 32}) {
    for (const char* pipeline : {"naive", "keras", "optimized"}) {
      trials.push_back(step(pipeline, 100));
      trials.back().spec.training.batch_size = batch;
      trials.back().name = pipeline + std::string(" batch=") + std::to_string(batch);
    }
  }
  EXPECT_THAT(ablations(results::pointers(trials)),
              ElementsAre(Field(&Ablation::over, "images, 2 ranks, from naive batch=16"),
                          Field(&Ablation::over, "images, 2 ranks, from naive batch=32")));
}

TEST(Ablation, SaysEachStepInASentence) {
  const auto findings =
      ablation_findings(results::pointers({step("naive", 100), step("keras", 50), step("optimized", 200)}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "ablation");
  EXPECT_THAT(findings[0].text,
              HasSubstr("over images, 2 ranks, each against the one before (95 % interval): naive 100 "
                        "images/s; keras 0.50 x (0.50 to 0.50); optimized 4.00 x (4.00 to 4.00); all "
                        "together 200 images/s."));
}

TEST(Ablation, NeedsThreeThatDifferInTheirPipelineAlone) {
  EXPECT_THAT(ablation_findings(results::pointers({step("naive", 100), step("optimized", 200), step("keras", 50, 1)})),
              IsEmpty());
}

TEST(Ablation, PassesOverWhatWasNotMeasured) {
  results::TrialResult missing = step("keras", 50);
  missing.repeats.clear();
  EXPECT_THAT(ablation_findings(results::pointers({step("naive", 100), missing, step("optimized", 200)})), IsEmpty());
}

}  // namespace
}  // namespace chexbench::analysis
