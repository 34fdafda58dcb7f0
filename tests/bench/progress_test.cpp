// Tests the text of a progress line, and the time left by simulated clocks: its value, and that it is steady.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/progress.hpp"
#include "core/terminal.hpp"

namespace chexbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProgressText, HasTheWholeRunAndItsFigures) {
  RunState state{.repeat = 1, .repeats = 6, .repeats_done = 6, .repeats_total = 48, .step = 3, .steps = 15};
  EXPECT_EQ(progress_text(state, "naive images", 8), "[7/48] naive images, repeat 2 of 6, step 4 of 15: warming up");
  state.images_per_s = 544.6;
  state.wait_share = 0.27;
  state.left_s = 185;
  EXPECT_EQ(progress_text(state, "naive images", 8),
            "[7/48] naive images, repeat 2 of 6, step 4 of 15: 545 images/s, 27 % wait, 3 min left");
  state.left_s = 0.4;
  EXPECT_THAT(progress_text(state, "naive images", 8), testing::EndsWith("27 % wait, nearly done"));
  state.left_s = 185;
  state.is_extra = true;
  EXPECT_EQ(
      progress_text(state, "naive images", 8),
      "[7/48] naive images, repeat 2 of 6 as rates vary, step 4 of 15: 545 images/s, 27 % wait, at least 3 min left");
  EXPECT_THAT(progress_text(state, "naive images", 1), Not(HasSubstr("naive"))) << "the only trial needs no name";
}

class ProgressTest : public testing::Test {
 protected:
  ProgressTest() {
    for (const char* name : {"a", "b"}) {
      results::TrialResult trial{.name = name};
      trial.spec.engine = "emulated:v100";
      trial.spec.measure.repeats = 3;
      trial.ranks = 2;
      report_.trials.push_back(trial);
    }
  }

  // The state after a step that took so long.
  RunState step(Progress& progress, const StepProgress& done, double took_s = 1) {
    now_s_ += took_s;
    progress.step(done);
    return told_;
  }
  ProgressOptions options() {
    return {.on_state = [this](const RunState& state) { told_ = state; }, .clock = [this] { return now_s_; }};
  }

  results::Report report_;
  RunState told_;
  double now_s_ = 1000;
};

TEST_F(ProgressTest, NumbersRepeatsOverAllTrials) {
  Progress progress(report_, options(), true);
  progress.begin(0, 0);
  progress.end(0, 10);
  progress.begin(1, 0);
  const RunState state = step(progress, {.step = 4, .total_steps = 10, .measured = {100, 2, 0.5}});
  EXPECT_EQ(state.trial, 1u);
  EXPECT_EQ(state.repeats_done, 1u);
  EXPECT_EQ(state.repeats_total, 6u);
  EXPECT_DOUBLE_EQ(*state.images_per_s, 100) << "100 images in 2 s on each of two ranks";
  EXPECT_DOUBLE_EQ(*state.wait_share, 0.25);
}

TEST_F(ProgressTest, KnowsThatATrialMayEndEarlyOrGoOn) {
  report_.trials[0].spec.measure.max_seconds = 120;
  Progress progress(report_, options(), true);
  progress.begin(0, 0);
  progress.end(0, 100);
  progress.begin(1, 0);
  progress.end(1, 20);
  progress.finish(1);
  progress.begin(0, 1);
  RunState state = step(progress, {.step = 0, .total_steps = 100, .measured = {}});
  EXPECT_EQ(state.repeats_total, 4u);
  EXPECT_NEAR(*state.left_s, 100, 2) << "the repeat that passes 120 s is the last one";
  EXPECT_FALSE(state.images_per_s) << "no step was measured";
  progress.begin(1, 1);
  progress.begin(0, 4);
  state = step(progress, {.step = 0, .total_steps = 100, .measured = {}});
  EXPECT_EQ(state.repeats_total, 7u) << "an extra round makes it five repeats of a, two of b";
}

TEST_F(ProgressTest, TellsAStateAtMostTenTimesASecond) {
  Progress progress(report_, options(), true);
  progress.begin(0, 0);
  EXPECT_EQ(step(progress, {.step = 0, .total_steps = 10, .measured = {}}).step, 0);
  EXPECT_EQ(step(progress, {.step = 1, .total_steps = 10, .measured = {}}, 0.06).step, 0);
  EXPECT_EQ(step(progress, {.step = 2, .total_steps = 10, .measured = {}}, 0.06).step, 2);
}

TEST_F(ProgressTest, TellsNothingOnOtherRanks) {
  Progress progress(report_, options(), false);
  progress.begin(0, 0);
  step(progress, {.step = 4, .total_steps = 10, .measured = {}});
  EXPECT_EQ(told_.steps, 0);
}

TEST_F(ProgressTest, WritesLinesThatEndWhereNoTerminalIs) {
  testing::internal::CaptureStderr();
  {
    Progress progress(report_, {.shown = ProgressShown::lines, .every_s = 0}, true);
    progress.begin(0, 0);
    step(progress, {.step = 4, .total_steps = 10, .measured = {}});
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_THAT(written, HasSubstr("[1/6] a, repeat 1 of 3, step 5 of 10: warming up"));
  EXPECT_THAT(written, Not(HasSubstr("\r")));
  EXPECT_EQ(written.back(), '\n');
}

TEST(ProgressOptions, OfAProcessWithoutATerminalShowLinesOnlyIfAskedOrLaunched) {
  EXPECT_EQ(progress_options("never").shown, ProgressShown::nothing);
  if (stderr_is_terminal() || stderr_shows_status()) GTEST_SKIP() << "stderr is a terminal";
  EXPECT_EQ(progress_options("always").shown, ProgressShown::lines);
  EXPECT_LT(progress_options("always").every_s, progress_options("auto").every_s);
}

constexpr int kSteps = 20;

// A run of trials whose steps take as long as a test says.
class TimeLeftTest : public testing::Test {
 protected:
  TimeLeftTest() { add_trials(1, 10); }

  void add_trials(int trials, int repeats) {
    report_.trials.clear();
    for (int i = 0; i < trials; ++i) {
      report_.trials.emplace_back();
      report_.trials.back().spec.measure.repeats = repeats;
    }
  }

  // Runs a repeat whose second step stalls, with other work after its steps, and keeps the time shown after each step.
  void run_repeat(TimeLeft& left, std::size_t trial, int repeat, double step_s, double tail_s = 0, double stall_s = 0) {
    const double began_s = now_s_;
    left.begin(trial, repeat, now_s_);
    for (int step = 0; step < kSteps; ++step) {
      now_s_ += step_s + (step == 1 ? stall_s : 0);
      left.step({.step = step, .total_steps = kSteps, .measured = {}}, now_s_);
      if (const auto left_s = left.left_s(now_s_)) shown_.push_back({.time_s = now_s_, .left_s = *left_s});
    }
    now_s_ += tail_s;
    left.end(trial, now_s_ - began_s);
  }

  struct Shown {
    double time_s = 0;
    double left_s = 0;
  };
  int rises() const {
    int count = 0;
    for (std::size_t i = 1; i < shown_.size(); ++i) count += shown_[i].left_s > shown_[i - 1].left_s + 1e-9 ? 1 : 0;
    return count;
  }

  results::Report report_;
  double now_s_ = 1000;
  std::vector<Shown> shown_;
};

TEST_F(TimeLeftTest, IsRightOnAQuietMachine) {
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 10; ++repeat) run_repeat(left, 0, repeat, 0.5);
  for (const Shown& shown : shown_) EXPECT_NEAR(shown.left_s, now_s_ - shown.time_s, 0.5);
  EXPECT_EQ(rises(), 0);
  EXPECT_GE(shown_.front().left_s, 98) << "known after a tenth of the first repeat";
}

TEST_F(TimeLeftTest, DoesNotRiseIfOthersTakeTheMachineForAWhile) {
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 10; ++repeat) run_repeat(left, 0, repeat, repeat == 2 || repeat == 6 ? 1.5 : 0.5);
  EXPECT_EQ(rises(), 0);
  for (const Shown& shown : shown_) {
    const double truth_s = now_s_ - shown.time_s;
    EXPECT_GT(shown.left_s, truth_s - 45) << "two repeats take 20 s longer than it can know";
    EXPECT_LT(shown.left_s, truth_s + 5);
  }
}

TEST_F(TimeLeftTest, HardlyRisesIfAStepOfARepeatStalls) {
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 10; ++repeat) run_repeat(left, 0, repeat, 0.5, 0, repeat == 1 ? 5 : 0);
  for (std::size_t i = 1; i < shown_.size(); ++i) EXPECT_LT(shown_[i].left_s, shown_[i - 1].left_s + 5);
}

TEST_F(TimeLeftTest, DoesNotEndBeforeTheRun) {
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 10; ++repeat) run_repeat(left, 0, repeat, repeat == 9 ? 10 : 0.5);
  for (const Shown& shown : shown_) {
    if (now_s_ - shown.time_s <= 30) continue;
    EXPECT_GT(shown.left_s, 0.5) << "the last repeat takes 200 s instead of 10";
  }
}

TEST_F(TimeLeftTest, RisesAFewTimesWhereTheMachineHasBecomeSlowerForGood) {
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 10; ++repeat) run_repeat(left, 0, repeat, repeat < 4 ? 0.5 : 2);
  EXPECT_GE(rises(), 1);
  EXPECT_LE(rises(), 4);
  const auto late = std::ranges::find_if(shown_, [&](const Shown& shown) { return now_s_ - shown.time_s < 120; });
  EXPECT_GT(late->left_s, 120 / 1.5 - 10);
  EXPECT_LT(late->left_s, 125);
}

TEST_F(TimeLeftTest, RisesIfMoreIsPlannedAndFallsIfATrialEndsEarly) {
  add_trials(1, 2);
  TimeLeft left(report_);
  run_repeat(left, 0, 0, 0.5);
  run_repeat(left, 0, 1, 0.5);
  left.finish(0);
  EXPECT_EQ(left.repeats_planned(), 2u);
  shown_.clear();
  run_repeat(left, 0, 2, 0.5);
  EXPECT_EQ(left.repeats_planned(), 3u);
  EXPECT_NEAR(shown_.front().left_s, 9.5, 0.1);

  add_trials(2, 10);
  TimeLeft early(report_);
  run_repeat(early, 0, 0, 0.5);
  run_repeat(early, 1, 0, 0.5);
  early.finish(0);
  shown_.clear();
  run_repeat(early, 1, 1, 0.5);
  EXPECT_NEAR(shown_.front().left_s, 89.5, 0.1) << "trial 0 has no more repeats";
}

TEST_F(TimeLeftTest, LearnsThatAnotherTrialIsSlower) {
  add_trials(2, 5);
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 5; ++repeat) {
    run_repeat(left, 0, repeat, 0.5);
    run_repeat(left, 1, repeat, 5);
  }
  const auto second_round = std::ranges::find_if(shown_, [&](const Shown& shown) { return shown.time_s > 1110; });
  double worst_s = 0;
  for (auto shown = second_round; shown != shown_.end(); ++shown)
    worst_s = std::max(worst_s, std::abs(shown->left_s - (now_s_ - shown->time_s)));
  EXPECT_LT(worst_s, 10) << "of 440 s";
}

TEST_F(TimeLeftTest, CountsWhatComesBeforeTheStepsAndAfterThem) {
  add_trials(1, 3);
  TimeLeft left(report_);
  for (int repeat = 0; repeat < 3; ++repeat) run_repeat(left, 0, repeat, 0.5, 20);
  const Shown& last = shown_.back();
  EXPECT_NEAR(last.left_s, now_s_ - last.time_s, 1) << "20 s after the last step, as in the repeats before";
}

TEST_F(TimeLeftTest, IsNotKnownFromTheFirstStep) {
  TimeLeft left(report_);
  left.begin(0, 0, now_s_);
  EXPECT_FALSE(left.left_s(now_s_));
  left.step({.step = 0, .total_steps = kSteps, .measured = {}}, now_s_ + 60);
  EXPECT_FALSE(left.left_s(now_s_ + 60)) << "a minute of waiting for the first batch is no pace of steps";
}

// Validations take as long as the steps: 3 images for each one that is trained on, of a third of the work.
class TimeLeftOfEpochs : public TimeLeftTest {
 protected:
  TimeLeftOfEpochs() {
    add_trials(1, 1);
    report_.trials[0].spec.training.epochs = 10;
    report_.trials[0].spec.training.validation_share = 0.75;
  }
};

TEST_F(TimeLeftOfEpochs, IsForecastAfterATenthOfAnEpoch) {
  TimeLeft left(report_);
  left.begin(0, 0, 0);
  left.step({.step = 0, .total_steps = 200, .measured = {}}, 1);
  EXPECT_FALSE(left.left_s(1));
  for (int step = 1; step < 4; ++step) left.step({.step = step, .total_steps = 200, .measured = {}}, 1.0 + step);
  EXPECT_NEAR(left.left_s(4).value(), 196 + 200, 1e-6);
}

TEST_F(TimeLeftOfEpochs, DoesNotCountTheStepsThatAnEarlierRunTrained) {
  TimeLeft left(report_);
  left.begin(0, 0, 0);
  left.step({.step = 179, .total_steps = 200, .first_step = 180, .measured = {}}, 50);
  EXPECT_FALSE(left.left_s(50));
  for (int step = 180; step < 190; ++step)
    left.step({.step = step, .total_steps = 200, .first_step = 180, .measured = {}}, 50.0 + step - 179);
  EXPECT_NEAR(left.left_s(60).value(), 10 + 20, 1e-6) << "ten steps, and the validation of the last epoch";
}

TEST_F(TimeLeftTest, OfALimitedTrialIsThatOfTheRepeatsUntilItsLimit) {
  report_.trials[0].spec.measure.max_seconds = 25;
  TimeLeft left(report_);
  run_repeat(left, 0, 0, 0.5);
  shown_.clear();
  run_repeat(left, 0, 1, 0.5);
  EXPECT_NEAR(shown_.front().left_s, 19.5, 0.1) << "the third repeat of 10 s passes the limit";
}

TEST_F(TimeLeftTest, OfALimitedRunIsWhatItsLimitLeavesButAFirstRepeatOfEachTrialAtLeast) {
  add_trials(2, 10);
  for (results::TrialResult& trial : report_.trials) trial.spec.measure.max_total_seconds = 35;
  TimeLeft left(report_);
  run_repeat(left, 0, 0, 0.5);
  shown_.clear();
  run_repeat(left, 1, 0, 0.5);
  EXPECT_NEAR(shown_.front().left_s, 24.5, 0.1);
  for (results::TrialResult& trial : report_.trials) trial.spec.measure.max_total_seconds = 5;
  TimeLeft least(report_);
  run_repeat(least, 0, 0, 0.5);
  shown_.clear();
  run_repeat(least, 1, 0, 0.5);
  EXPECT_NEAR(shown_.front().left_s, 9.5, 0.1);
}

}  // namespace
}  // namespace chexbench::bench
