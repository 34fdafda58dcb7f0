#include "analysis/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

using results::make_trial;

results::TrialResult that_waits(results::TrialResult trial, double wait_share) {
  results::set_wait_share(trial, wait_share);
  return trial;
}

results::TrialResult starving(const std::vector<double>& images_per_s) {
  return that_waits(make_trial({.pipeline = "naive", .ranks = 2, .engine = "emulated:v100"}, images_per_s), 0.38);
}

results::TrialResult fed(const std::vector<double>& images_per_s) {
  return that_waits(make_trial({.ranks = 2, .engine = "emulated:v100"}, images_per_s), 0.001);
}

void let_others_disturb(results::TrialResult& trial) {
  for (results::RepeatResult& repeat : trial.repeats) repeat.disturbance = results::make_disturbance();
}

Answer answer_of(std::vector<results::TrialResult> trials) {
  return derive_answer(results::make_report(std::move(trials)));
}

TEST(Answer, SaysWhatIsFasterWhatHoldsTheOtherBackAndWhatToDo) {
  const Answer answer = answer_of({starving({440, 440, 440, 440, 440}), fed({748, 748, 748, 748, 748})});
  EXPECT_THAT(answer.lines, ElementsAre("optimized keeps 2 V100s (emulated) fed: 748 images/s, 1.70 x naive (95 % "
                                        "interval 1.70 to 1.70).",
                                        StartsWith("naive (emulated) starves its accelerator 38 % of the time. "),
                                        "Do: Use optimized."));
  EXPECT_TRUE(answer.emulated);
  EXPECT_EQ(answer.trial, "optimized images ranks=2");
  EXPECT_EQ(answer.base, "naive images ranks=2");
  EXPECT_DOUBLE_EQ(answer.ratio.value().value, 1.7);
  EXPECT_EQ(answer.images_per_s, 748);
  EXPECT_EQ(answer.waiting, "naive images ranks=2");
  EXPECT_NEAR(answer.wait_share.value(), 0.38, 1e-9);
  EXPECT_NE(answer.wait_cause, "");
  EXPECT_EQ(answer.advice, "Use optimized.");
}

TEST(Answer, OfOneRepeatSaysThatTheRatioHasNoInterval) {
  const Answer answer = answer_of({starving({440}), fed({748})});
  EXPECT_THAT(answer.lines.at(0), EndsWith("1.70 x naive (no interval: fewer than five repeats)."));
  EXPECT_EQ(answer.advice, "Measure five repeats, which give an interval.");
  EXPECT_EQ(answer.command, "mpirun -np 2 chexbench --config 'spec with \"quotes\".json' --set measure.repeats=5");
  EXPECT_EQ(answer.lines.back(), answer.command);
  EXPECT_FALSE(answer.ratio.value().ci95);
}

TEST(Answer, OfATrialThatALimitEndedEarlySaysHowToLiftIt) {
  results::TrialResult limited = fed({748});
  limited.partial = true;
  limited.spec.measure.max_total_seconds = 60;
  const Answer answer = answer_of({starving({440}), limited});
  EXPECT_EQ(answer.advice, "Measure when the machine is free, or without the limit that ended it early.");
  EXPECT_THAT(answer.command, EndsWith(" --set measure.max_total_seconds=null"));
}

TEST(Answer, RecommendsNothingThatCannotBeToldApart) {
  const Answer answer = answer_of({starving({100, 110, 90, 105, 95}), fed({105, 95, 100, 90, 110})});
  EXPECT_THAT(answer.lines.at(0), AllOf(StartsWith("optimized (emulated) and naive cannot be told apart: 100 and 100"),
                                        HasSubstr("95 % interval")));
  EXPECT_THAT(answer.lines, Not(Contains(HasSubstr("Use "))));
}

TEST(Answer, OfABusyMachineSaysSoAndWhatToDo) {
  results::TrialResult slow = starving({100, 100, 100, 100, 100}), fast = fed({76, 76, 76, 76, 76});
  let_others_disturb(fast);
  const Answer answer = answer_of({slow, fast});
  EXPECT_THAT(answer.lines.at(0), StartsWith("The machine was too busy to compare optimized (emulated) with naive: "));
  EXPECT_EQ(answer.advice, "Measure again when the machine is free.");
  EXPECT_EQ(answer.grade, results::Grade::machine_too_busy);
}

TEST(Answer, AdvisesTheFirstArmWhereTheOtherIsSlower) {
  const Answer answer = answer_of({starving({300, 300, 300, 300, 300}), fed({150, 150, 150, 150, 150})});
  EXPECT_THAT(answer.lines.at(0), HasSubstr("0.50 x naive (95 % interval 0.50 to 0.50)"));
  EXPECT_THAT(answer.advice, StartsWith("Use naive; then try what makes its input faster"));
}

TEST(Answer, NamesTheFormatAndTheRanksOfArmsThatAlsoDifferInThem) {
  const auto trial = [](const std::string& pipeline, spec::DataFormat format, double images_per_s) {
    return make_trial({.pipeline = pipeline, .format = format}, std::vector<double>(5, images_per_s));
  };
  const Answer answer = answer_of(
      {trial("naive", spec::DataFormat::images, 100), trial("naive", spec::DataFormat::tfrecord, 110),
       trial("optimized", spec::DataFormat::images, 200), trial("optimized", spec::DataFormat::tfrecord, 210)});
  EXPECT_THAT(answer.lines.at(0), StartsWith("optimized (images) delivers 200 images/s, 2.00 x naive (95 % interval "));
  EXPECT_THAT(answer.lines, Contains(StartsWith("With optimized: tfrecord delivers 210 images/s, 1.05 x images")));
  EXPECT_LE(answer.lines.size(), kMostAnswerLines);
}

TEST(Answer, OfEngineNoneSpeaksOfCoresAndNotOfWaits) {
  const Answer answer = answer_of(
      {make_trial({.pipeline = "naive"}, {100, 100, 100, 100, 100}), make_trial({}, {300, 300, 300, 300, 300})});
  EXPECT_THAT(answer.lines.at(0), StartsWith("optimized delivers 300 images/s, 3.00 x naive"));
  EXPECT_THAT(answer.lines, AllOf(Not(Contains(HasSubstr("wait"))), Not(Contains(HasSubstr("starve")))));
  EXPECT_THAT(answer.lines.at(1), StartsWith("The cores of optimized are busy "));
  EXPECT_EQ(answer.command, "chexbench predict --report DIR --accelerator v100");
  EXPECT_FALSE(answer.wait_share);
}

TEST(Answer, ProposesAnAcceleratorOfWhichAProfileHasTheTraining) {
  const auto proposed = [](const std::string& network, int image_size, spec::Precision precision) {
    results::TrialResult trial = make_trial({}, {300, 300, 300, 300, 300});
    trial.spec.model = {.name = network, .image_size = image_size};
    trial.spec.training.precision = precision;
    return answer_of({trial}).command;
  };
  EXPECT_EQ(proposed("densenet121", 256, spec::Precision::f32), "chexbench predict --report DIR --accelerator v100");
  EXPECT_EQ(proposed("resnet50", 224, spec::Precision::tf32), "chexbench predict --report DIR --accelerator a100");
  EXPECT_EQ(proposed("resnet50", 800, spec::Precision::fp16), "chexbench predict --report DIR --accelerator dlio-a100");
  EXPECT_EQ(proposed("resnet50", 320, spec::Precision::fp16),
            "chexbench dev calibrate --model resnet50 --image-size 320 --precision fp16 --output profile.json && "
            "chexbench predict --report DIR --accelerator profile.json");
}

TEST(Answer, SaysOfIdleCoresOnlyThatMoreOfThemWouldNotHelp) {
  results::TrialResult trial = make_trial({.pipeline = "keras"}, {100, 100, 100, 100, 100});  // one thread decodes
  trial.cores_per_rank = 2;
  const auto cores_line = [&trial] { return answer_of({trial}).lines.at(1); };
  EXPECT_THAT(cores_line(), AllOf(StartsWith("The cores of keras images ranks=1 are busy 31 % of the time"),
                                  HasSubstr(", so it is not short of them.")));
  for (results::RepeatResult& repeat : trial.repeats) repeat.cpu_wait_s = 0.3;
  EXPECT_THAT(cores_line(), Not(HasSubstr("cores of"))) << "its threads wait for cores";
}

TEST(Answer, NamesACpuLimitInsteadOfIdleCores) {
  results::TrialResult trial = make_trial({}, {100, 100, 100, 100, 100});
  for (results::RepeatResult& repeat : trial.repeats)
    repeat.disturbance = {.core_s = 2, .own_cpu_s = 1.2, .own_wait_s = 0.4, .span_s = 1, .throttled_s = 0.4};
  const Answer answer = answer_of({trial});
  EXPECT_THAT(answer.lines.at(1), AllOf(HasSubstr("CPU limit"), HasSubstr("25 %")));
  EXPECT_THAT(answer.lines, Not(Contains(HasSubstr("ther processes used"))));
}

TEST(Answer, OfEngineNoneSaysThatStepsWereFedFromBuffers) {
  results::TrialResult trial = make_trial({}, {100, 100, 100, 100, 100});
  EXPECT_THAT(answer_of({trial}).lines, Not(Contains(HasSubstr("measure.steps"))));
  for (results::RepeatResult& repeat : trial.repeats) repeat.buffer_fed = true;
  EXPECT_THAT(answer_of({trial}).lines, Contains(HasSubstr("raise measure.steps")));
}

TEST(Answer, OfFewRepeatsFedFromBuffersAsksForMoreRepeatsAndSteps) {
  results::TrialResult trial = starving({440});
  trial.repeats.front().buffer_fed = true;
  const Answer answer = answer_of({trial, fed({748})});
  EXPECT_THAT(answer.advice, AllOf(HasSubstr("five repeats"), HasSubstr("buffered before timing")));
  EXPECT_THAT(answer.command, MatchesRegex(".* --set measure.repeats=5 --set measure.steps=[0-9]+"));
}

TEST(Answer, OfOneArmHasTheIntervalOfItsRate) {
  const Answer answer = answer_of({starving({100, 101, 102, 103, 104})});
  EXPECT_THAT(answer.lines.at(0), "naive images ranks=2 (emulated) trains 102 images/s (95 % interval 100 to 104).");
  EXPECT_THAT(answer.lines.at(1),
              StartsWith("naive images ranks=2 (emulated) starves its accelerator 38 % of the time"));
  EXPECT_THAT(answer.command, StartsWith("mpirun -np 2 chexbench advise --config 'spec with \"quotes\".json' --set "
                                         "pipeline=naive --set data.format=images --set ranks=2"));
  EXPECT_FALSE(answer.ratio);
}

TEST(Answer, LeavesAnInputAloneThatKeepsUp) {
  const Answer answer = answer_of({fed({748, 748, 748, 748, 748})});
  EXPECT_EQ(answer.lines.at(0),
            "optimized images ranks=2 keeps 2 V100s (emulated) fed: 748 images/s (95 % interval 748 to 748).");
  EXPECT_EQ(answer.lines.back(), "Do: Leave its input as it is: it keeps up.");
}

results::TrialResult at(int ranks, double images_per_s) {
  return that_waits(make_trial({.ranks = ranks, .engine = "emulated:v100"}, std::vector<double>(5, images_per_s)), 0);
}

TEST(Answer, OfASweepOverRanksSaysHowFarItScales) {
  const Answer answer = answer_of({at(1, 100), at(4, 390)});
  EXPECT_THAT(answer.lines.at(0), StartsWith("optimized images ranks=4 keeps 4 V100s (emulated) fed: 390 images/s"));
  EXPECT_THAT(answer.lines, Contains(HasSubstr("reaches 98 % of 4 times its images/s at 1 rank (95 % interval")));
}

TEST(Answer, SaysNothingOfScalingIfEitherEndWasDisturbed) {
  for (const bool first : {true, false}) {
    std::vector<results::TrialResult> trials{at(1, 100), at(4, 390)};
    let_others_disturb(first ? trials.front() : trials.back());
    EXPECT_THAT(answer_of(trials).lines, Not(Contains(HasSubstr("times its images/s at 1 rank"))));
  }
}

TEST(Answer, OfTrainingsOverEpochsBeginsWithWhatWasLearned) {
  results::TrialResult trial = fed({100, 100, 100, 100, 100});
  trial.spec.training.epochs = 2;
  for (results::RepeatResult& repeat : trial.repeats)
    repeat.epochs = {{.epoch = 1, .mean_auroc = 0.7, .elapsed_s = 10},
                     {.epoch = 2, .mean_auroc = 0.8, .elapsed_s = 20}};
  EXPECT_THAT(
      answer_of({trial}).lines.at(0),
      "optimized images ranks=2 reaches a mean AUROC of 0.800. That was after epoch 2 of 2, in 20 s. The best of 5 "
      "repeats is repeat 0 with 0.800; they lie from 0.800 to 0.800 (standard deviation 0.000).");
}

TEST(Answer, OfDifferentWorkComparesNothing) {
  results::TrialResult other = fed({50, 50, 50, 50, 50});
  other.spec.model.name = "densenet121";
  other.name = "densenet121";
  const Answer answer = answer_of({fed({100, 100, 100, 100, 100}), other});
  EXPECT_EQ(answer.lines.at(0),
            "optimized images ranks=2 (emulated) trains 100 images/s, densenet121 (emulated) trains 50.0 images/s.");
  EXPECT_FALSE(answer.ratio);
}

TEST(Answer, CountsManyDoubtfulArms) {
  std::vector<results::TrialResult> trials;
  for (const char* model : {"resnet50", "densenet121", "alexnet", "googlenet", "mobilenet_v2"}) {
    trials.push_back(fed({100, 100, 100, 100, 100}));
    trials.back().spec.model.name = trials.back().name = model;
    trials.back().unstable = true;
  }
  const Answer answer = answer_of(trials);
  EXPECT_THAT(answer.lines.at(0), EndsWith(", and 1 more."));
  EXPECT_THAT(answer.lines, Contains("The repeats of 5 trials differ too much for a reliable median."));
}

TEST(Answer, ComparesArmsThatDifferInAnyOtherSetting) {
  results::TrialResult large = fed({150, 150, 150, 150, 150});
  large.spec.training.batch_size = 64;
  large.name = "batch_size=64";
  EXPECT_THAT(answer_of({fed({100, 100, 100, 100, 100}), large}).lines.at(0),
              HasSubstr("150 images/s, 1.50 x optimized images ranks=2"));
}

TEST(Answer, LeavesReadyMadeBatchesOutOfTheComparison) {
  const results::TrialResult ceiling =
      make_trial({.format = spec::DataFormat::ready, .ranks = 2, .engine = "emulated:v100"}, {900, 900, 900, 900, 900});
  const Answer answer = answer_of({starving({440, 440, 440, 440, 440}), fed({748, 748, 748, 748, 748}), ceiling});
  EXPECT_EQ(answer.trial, "optimized images ranks=2");
}

TEST(Answer, OfNothingMeasuredSaysSo) {
  EXPECT_THAT(answer_of({}).lines, ElementsAre("Nothing was measured."));
  results::Report report = results::make_report({make_trial({}, {})});
  report.interrupted = true;
  report.findings = {{.kind = "left_out", .text = "Trial 'a' is left out: no entry."}};
  EXPECT_THAT(derive_answer(report).lines,
              ElementsAre("Nothing was measured: the run ended before its first repeat did.",
                          "Trial 'a' is left out: no entry."));
}

TEST(Answer, TellsOfAnEarlyEndAndOfRepeatsThatDifferTooMuch) {
  results::TrialResult trial = fed({100, 100, 100, 100, 100});
  trial.unstable = true;
  results::Report report = results::make_report({trial});
  report.interrupted = true;
  EXPECT_THAT(
      derive_answer(report).lines,
      Contains("The run ended early: these are the measurements up to then. The repeats of optimized images ranks=2 "
               "(emulated) differ too much for a reliable median."));
}

TEST(Answer, TellsWhatOthersTookEvenWhereTheyMadeNoDifference) {
  results::TrialResult slow = starving({100, 100, 100, 100, 100}), fast = fed({900, 900, 900, 900, 900});
  let_others_disturb(fast);
  const Answer answer = answer_of({slow, fast});
  EXPECT_THAT(answer.lines.at(0), HasSubstr("9.00 x naive"));
  EXPECT_THAT(answer.lines, Contains("Other processes used up to 34 % of the cores of optimized (emulated)."));
}

TEST(Answer, IsNeverLongerThanFiveLines) {
  std::vector<results::TrialResult> trials;
  for (const spec::DataFormat format : {spec::DataFormat::images, spec::DataFormat::tfrecord}) {
    for (const char* pipeline : {"naive", "keras", "optimized"}) {
      for (const int ranks : {1, 2}) {
        const double images_per_s = 100.0 + static_cast<double>(trials.size());
        trials.push_back(
            that_waits(make_trial({.pipeline = pipeline, .format = format, .ranks = ranks, .engine = "emulated:v100"},
                                  std::vector<double>(5, images_per_s)),
                       0.3));
        trials.back().unstable = true;
        let_others_disturb(trials.back());
      }
    }
  }
  const Answer answer = answer_of(trials);
  EXPECT_THAT(answer.lines, SizeIs(testing::Le(kMostAnswerLines)));
  EXPECT_THAT(answer.lines, Contains(StartsWith("Do: ")));
}

TEST(ByWorth, PutsWhatCostsMostFirstAndWhatCanBeDoneBeforeWhatCannot) {
  const std::vector<results::Finding> findings{{.kind = "a"},
                                               {.kind = "b", .advice = "Do it."},
                                               {.kind = "c", .worth_share = 0.2},
                                               {.kind = "d", .worth_share = 0.5},
                                               {.kind = "e"}};
  std::string order;
  for (const results::Finding* finding : by_worth(findings)) order += finding->kind;
  EXPECT_EQ(order, "dcbae");
}

}  // namespace
}  // namespace chexbench::analysis
