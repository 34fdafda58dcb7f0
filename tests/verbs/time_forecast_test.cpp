// Tests --dry-run's forecast of a run's duration.
#include "verbs/run/time_forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/pipeline_list.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A core decodes 100 images/s, and nothing else takes time.
const Tried kTried{.costs = {.decode_s = 0.01}, .images = 1000};
const bench::HostCores kTwoCores{.cores = {0, 1}};

results::TrialResult trial_of(const char* pipeline, const char* engine) {
  results::TrialResult trial;
  trial.spec.pipeline = spec::preset(pipeline);
  trial.spec.engine = engine;
  trial.spec.measure.warmup_steps = 2;
  trial.spec.measure.steps = 8;
  trial.spec.training.batch_size = 20;
  return trial;
}

double repeat_s(const results::TrialResult& trial) { return forecast_repeat(trial, kTried, kTwoCores).repeat_s; }

TEST(ForecastRepeat, TakesAsLongAsItsImagesAreMade) { EXPECT_NEAR(repeat_s(trial_of("optimized", "none")), 1, 0.01); }

TEST(ForecastRepeat, CountsWhatAShuffleOfDecodedImagesTakesBeforeTheFirstBatch) {
  EXPECT_NEAR(repeat_s(trial_of("naive", "none")) / repeat_s(trial_of("optimized", "none")), (200.0 + 500) / 200, 0.1);
}

TEST(ForecastRepeat, TakesAsLongAsAnEmulatedAcceleratorWhereThatIsSlower) {
  results::TrialResult trial = trial_of("optimized", "emulated:v100");
  trial.spec.training.batch_size = 96;
  EXPECT_NEAR(forecast_repeat(trial, {.costs = {.decode_s = 1e-6}, .images = 1000}, kTwoCores).repeat_s, 960.0 / 384,
              1e-6);
  EXPECT_EQ(forecast_repeat(trial, kTried, kTwoCores).unknown, "");
}

TEST(ForecastRepeat, FillsAShuffleWithNoMoreImagesThanThereAre) {
  Tried few = kTried;
  few.images = 40;
  const results::TrialResult naive = trial_of("naive", "none");
  EXPECT_NEAR(forecast_repeat(naive, few, kTwoCores).repeat_s / repeat_s(trial_of("optimized", "none")), 1.2, 0.05);
}

TEST(ForecastRepeat, AddsWhatATrainingTakesOfTheSameCores) {
  Tried tried = kTried;
  tried.trained_images_per_s_per_core = 4;
  const RepeatForecast forecast = forecast_repeat(trial_of("optimized", "onednn"), tried, kTwoCores);
  EXPECT_NEAR(forecast.repeat_s, 1 + 200.0 / (2 * 4), 0.1);
  EXPECT_EQ(forecast.unknown, "");
}

TEST(ForecastRepeat, CountsAllEpochsAndTheirValidations) {
  Tried tried = kTried;
  tried.trained_images_per_s_per_core = 4;
  results::TrialResult trial = trial_of("optimized", "onednn");
  trial.spec.training.epochs = 3;
  trial.spec.training.validation_share = 0.25;
  trial.ranks = 2;
  // 750 of 1000 images train in 18 steps of 2 x 20; 250 validate, at a third of the computing. One core a rank.
  EXPECT_NEAR(forecast_repeat(trial, tried, {.cores = {0, 1}, .sharers = 2}).repeat_s,
              3 * (18 * 40 + 250) / 200.0 + 3 * 18 * 20 / 4.0 * (1 + 1.0 / 9), 0.5);
}

TEST(ForecastRepeat, OfEpochsWithoutEnoughImagesIsUnknown) {
  results::TrialResult trial = trial_of("optimized", "onednn");
  trial.spec.training.epochs = 3;
  Tried few = kTried;
  few.images = 15;
  EXPECT_THAT(forecast_repeat(trial, few, kTwoCores).unknown, HasSubstr("too few images"));
}

TEST(ForecastRepeat, SaysThatItDoesNotKnowWhatARealEngineComputes) {
  EXPECT_EQ(forecast_repeat(trial_of("optimized", "onednn"), kTried, kTwoCores).unknown, "what engine onednn computes");
}

TEST(TimeText, AddsUpTheTrialsAndTellsWhatMayBeAdded) {
  spec::TrialSpec five, two;
  five.measure.repeats = 5;
  five.measure.extra_repeats = 6;
  two.measure.repeats = 2;
  const RepeatForecast each{.repeat_s = 10, .unknown = "what engine onednn computes"};
  EXPECT_THAT(
      time_text({{.spec = five, .repeat = each}, {.spec = two, .repeat = each}}),
      AllOf(HasSubstr("time: at least 70 s for 7 repeats of 2 trials\n  plus up to 60 s for 6 more repeats, if"),
            HasSubstr("not counted: building engines, opening the data, what engine onednn computes\n")));
  EXPECT_THAT(time_text({{.spec = two, .repeat = each}}), Not(HasSubstr("more repeats")));
}

TEST(TimeText, TellsWhatATrainingOverEpochsCountsAndAddsNoRepeats) {
  spec::TrialSpec epochs;
  epochs.measure.repeats = 6;
  epochs.training.epochs = 3;
  EXPECT_THAT(time_text({{.spec = epochs, .repeat = RepeatForecast{.repeat_s = 10}}}),
              AllOf(HasSubstr("time: about 60 s for 6 repeats of 1 trial\n"), HasSubstr("counted: whole trainings"),
                    Not(HasSubstr("more repeats"))));
}

TEST(TimeText, HeedsTheMostSecondsOfATrial) {
  spec::TrialSpec spec;
  spec.measure.repeats = 100;
  spec.measure.max_seconds = 30;
  EXPECT_THAT(time_text({{.spec = spec, .repeat = RepeatForecast{.repeat_s = 10}}}), HasSubstr("time: about 40 s"));
}

TEST(TimeText, HeedsTheMostSecondsOfTheRun) {
  spec::TrialSpec spec;
  spec.measure.repeats = 5;
  spec.measure.extra_repeats = 6;
  spec.measure.max_total_seconds = 70;
  const TrialForecast trial{.spec = spec, .repeat = RepeatForecast{.repeat_s = 6}};
  EXPECT_THAT(time_text({trial, trial}),
              HasSubstr("time: about 60 s for 10 repeats of 2 trials\n  plus up to 10 s for 12 more repeats, if"));
  spec.measure.max_total_seconds = 5;
  EXPECT_THAT(time_text({trial, trial}), AllOf(HasSubstr("time: about 12 s for"), Not(HasSubstr("more repeats"))))
      << "each trial is measured once";
}

TEST(TimeText, SaysWhatItDoesNotCount) {
  const spec::TrialSpec spec;
  EXPECT_THAT(time_text({{.spec = spec, .repeat = {}}}), HasSubstr("no forecast"));
  EXPECT_THAT(time_text({{.spec = spec, .repeat = {}}, {.spec = spec, .repeat = RepeatForecast{1, ""}}}),
              HasSubstr("of 2 trials (1 of them not counted"));
}

}  // namespace
}  // namespace chexbench::verbs
