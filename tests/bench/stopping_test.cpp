#include <gtest/gtest.h>

#include "bench/stopping.hpp"

namespace chexbench::bench {
namespace {

const std::vector<double> kSteady(6, 100.0);
const std::vector<double> kNoisy = {50, 100, 150, 60, 140, 100};

TEST(Stopping, EndsAfterTheRepeatsAskedFor) {
  const spec::MeasureSpec measure{.repeats = 3};
  EXPECT_FALSE(is_finished(measure, {1, 1}, {.trial_s = 1e9}));
  EXPECT_TRUE(is_finished(measure, {1, 1, 1}, {.trial_s = 0}));
}

TEST(Stopping, EndsEarlyWhenTheTimeIsUsedUpButNeverWithoutAResult) {
  const spec::MeasureSpec measure{.repeats = 100, .max_seconds = 10};
  EXPECT_FALSE(is_finished(measure, {}, {.trial_s = 11}));
  EXPECT_FALSE(is_finished(measure, {1}, {.trial_s = 9}));
  EXPECT_TRUE(is_finished(measure, {1}, {.trial_s = 10}));
}

TEST(Stopping, EndsATrialOnceTheShareOfTheRunsTimeIsUsedUp) {
  const spec::MeasureSpec measure{.repeats = 100, .max_total_seconds = 10};
  EXPECT_FALSE(is_finished(measure, {}, {.all_s = 11}));
  EXPECT_FALSE(is_finished(measure, {1}, {.trial_s = 9, .all_s = 9}));
  EXPECT_TRUE(is_finished(measure, {1}, {.trial_s = 1, .all_s = 10}));
  EXPECT_FALSE(is_finished(measure, {1}, {.all_s = 4, .share = 0.5}));
  EXPECT_TRUE(is_finished(measure, {1}, {.all_s = 5, .share = 0.5})) << "the rest belongs to trials that come later";
}

TEST(Stopping, AddsUpTheTimeOfAllTrials) {
  results::Report report;
  report.trials.resize(2);
  report.trials[0].repeats = {{.spent_s = 1}, {.spent_s = 2}};
  report.trials[1].repeats = {{.spent_s = 4}};
  const TimeSpent spent = time_spent(report, report.trials[0], 0.5);
  EXPECT_EQ(spent.trial_s, 3);
  EXPECT_EQ(spent.all_s, 7);
  EXPECT_EQ(spent.share, 0.5);
}

TEST(Stopping, EndsEarlyWhenTheIntervalIsNarrowEnough) {
  const spec::MeasureSpec measure{.repeats = 100, .relative_error = 0.05};
  EXPECT_TRUE(is_finished(measure, kSteady, {.trial_s = 0}));
  EXPECT_FALSE(is_finished(measure, kNoisy, {.trial_s = 0}));
}

TEST(Stopping, NeedsFiveRepeatsForARelativeError) {
  const spec::MeasureSpec measure{.repeats = 100, .relative_error = 0.05};
  EXPECT_FALSE(is_finished(measure, {100, 100, 100, 100}, {.trial_s = 0}));
  EXPECT_TRUE(is_finished(measure, {100, 100, 100, 100, 100}, {.trial_s = 0}));
}

TEST(Stopping, CallsATrialCutShortIfTimeEndedIt) {
  EXPECT_TRUE(is_cut_short({.repeats = 5, .max_seconds = 10}, {1, 1, 1}));
  EXPECT_FALSE(is_cut_short({.repeats = 3, .max_seconds = 10}, {1, 1, 1}));
  EXPECT_FALSE(is_cut_short({.repeats = 100, .max_seconds = 10, .relative_error = 0.05}, kSteady));
}

TEST(Stopping, CallsATrialUnstableWhoseRepeatsDiffer) {
  EXPECT_TRUE(is_unstable({.repeats = 6}, kNoisy));
  EXPECT_TRUE(is_unstable({.repeats = 6}, {244, 245, 243, 244, 165, 244})) << "one is far from the others";
  EXPECT_TRUE(is_unstable({.repeats = 2}, {100, 140}));
  EXPECT_FALSE(is_unstable({.repeats = 6}, {100, 103, 98, 101, 99, 100}));
  EXPECT_FALSE(is_unstable({.repeats = 1}, {100}));
}

TEST(Stopping, CallsATrialUnstableThatMissedTheErrorItAskedFor) {
  EXPECT_TRUE(is_unstable({.repeats = 6, .relative_error = 0.05}, kNoisy));
  EXPECT_FALSE(is_unstable({.repeats = 6, .relative_error = 0.05}, kSteady));
}

// Returns a finished trial of five repeats; the first `disturbed` ones were disturbed.
results::TrialResult finished_trial(int disturbed, bool unstable = false) {
  results::TrialResult trial;
  trial.spec.measure.repeats = 5;
  trial.unstable = unstable;
  for (int repeat = 0; repeat < 5; ++repeat) {
    trial.repeats.push_back({.repeat = repeat, .images_per_s = 100});
    if (repeat < disturbed)
      trial.repeats.back().disturbance = {
          .core_s = 1, .others_s = 0.5, .own_cpu_s = 0.5, .own_wait_s = 0.5, .span_s = 1};
  }
  return trial;
}

TEST(ExtraRounds, AreForTrialsThatWereDisturbedOrDiffer) {
  EXPECT_FALSE(wants_extra_round(finished_trial(0), {.trial_s = 1}));
  EXPECT_TRUE(wants_extra_round(finished_trial(1), {.trial_s = 1}));
  EXPECT_TRUE(wants_extra_round(finished_trial(0, true), {.trial_s = 1}));
}

TEST(ExtraRounds, EndWithTheirNumberAndTheTime) {
  results::TrialResult trial = finished_trial(5);
  trial.spec.measure.extra_repeats = 0;
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 1}));
  trial.spec.measure.extra_repeats = 1;
  trial.spec.measure.max_seconds = 10;
  EXPECT_TRUE(wants_extra_round(trial, {.trial_s = 9}));
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 10}));
  trial.spec.measure.max_total_seconds = 60;
  EXPECT_TRUE(wants_extra_round(trial, {.trial_s = 9, .all_s = 59}));
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 9, .all_s = 60}));
}

TEST(ExtraRounds, AreMoreWhereTheyTakeLittleTime) {
  results::TrialResult trial = finished_trial(5);
  trial.spec.measure.extra_repeats = 1;
  trial.repeats.push_back(trial.repeats.back());
  trial.repeats.back().spent_s = kCheapExtraSeconds;
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 30}));
  trial.repeats.back().spent_s = 1;
  EXPECT_TRUE(wants_extra_round(trial, {.trial_s = 30}));
  while (trial.repeats.size() < 5 + kCheapExtra) trial.repeats.push_back(trial.repeats.back());
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 30}));
}

TEST(ExtraRounds, AreNotForTrialsThatSayThemselvesWhenTheyEnd) {
  results::TrialResult trial = finished_trial(5);
  trial.spec.training.epochs = 2;
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 1}));
  trial = finished_trial(5);
  trial.spec.measure.relative_error = 0.02;
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 1}));
  trial = finished_trial(5);
  trial.spec.measure.repeats = 4;
  EXPECT_FALSE(wants_extra_round(trial, {.trial_s = 1})) << "too few for an interval";
}

}  // namespace
}  // namespace chexbench::bench
