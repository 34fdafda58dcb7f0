// Tests how long --dry-run says a run takes.
#include "verbs/run/time_forecast.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/presets.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// A core decodes 100 images/s, and nothing else takes time.
constexpr InputCosts kCosts{.decode_s = 0.01};
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

double repeat_s(const results::TrialResult& trial) { return forecast_repeat(trial, kCosts, kTwoCores, 1000).repeat_s; }

TEST(ForecastRepeat, TakesAsLongAsItsImagesAreMade) { EXPECT_NEAR(repeat_s(trial_of("optimized", "none")), 1, 0.01); }

TEST(ForecastRepeat, CountsWhatAShuffleOfDecodedImagesTakesBeforeTheFirstBatch) {
  EXPECT_NEAR(repeat_s(trial_of("naive", "none")) / repeat_s(trial_of("optimized", "none")), (200.0 + 500) / 200, 0.1);
}

TEST(ForecastRepeat, TakesAsLongAsAnEmulatedAcceleratorWhereThatIsSlower) {
  results::TrialResult trial = trial_of("optimized", "emulated:v100");
  trial.spec.training.batch_size = 96;
  EXPECT_NEAR(forecast_repeat(trial, {.decode_s = 1e-6}, kTwoCores, 1000).repeat_s, 960.0 / 384, 1e-6);
  EXPECT_EQ(forecast_repeat(trial, kCosts, kTwoCores, 1000).unknown, "");
}

TEST(ForecastRepeat, SaysThatItDoesNotKnowWhatARealEngineComputes) {
  EXPECT_EQ(forecast_repeat(trial_of("optimized", "onednn"), kCosts, kTwoCores, 1000).unknown,
            "what engine onednn computes");
}

TEST(TimeText, AddsUpTheTrialsAndTellsWhatMayBeAdded) {
  spec::MeasureSpec five, two;
  five.repeats = 5;
  five.extra_repeats = 6;
  two.repeats = 2;
  const RepeatForecast each{.repeat_s = 10, .unknown = "what engine onednn computes"};
  EXPECT_THAT(time_text({{.measure = five, .repeat = each}, {.measure = two, .repeat = each}}),
              AllOf(HasSubstr("time: 70 s or so for 7 repeats of 2 trials; up to 6 more repeats, and 60 s more, if"),
                    HasSubstr("Not in it: building engines, opening the data, what engine onednn computes.")));
  EXPECT_THAT(time_text({{.measure = two, .repeat = each}}), Not(HasSubstr("more repeats")));
}

TEST(TimeText, HeedsTheMostSecondsOfATrial) {
  spec::MeasureSpec measure;
  measure.repeats = 100;
  measure.max_seconds = 30;
  EXPECT_THAT(time_text({{.measure = measure, .repeat = RepeatForecast{.repeat_s = 10}}}),
              HasSubstr("time: 40 s or so"));
}

TEST(TimeText, SaysWhatItDoesNotCount) {
  const spec::MeasureSpec measure;
  EXPECT_THAT(time_text({{.measure = measure, .repeat = {}}}), HasSubstr("no forecast"));
  EXPECT_THAT(time_text({{.measure = measure, .repeat = {}}, {.measure = measure, .repeat = RepeatForecast{1, ""}}}),
              HasSubstr("of 2 trials (1 of them not counted"));
}

}  // namespace
}  // namespace chexbench::verbs
