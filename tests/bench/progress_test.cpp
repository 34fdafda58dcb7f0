// Tests the text of a progress line, and its estimate of how far a run is.
#include "bench/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/terminal.hpp"

namespace chexbench::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProgressText, HasTheWholeRunAndItsFigures) {
  RunState state{.repeat = 1, .repeats = 6, .repeats_done = 6, .repeats_total = 48, .step = 3, .steps = 15};
  EXPECT_EQ(progress_text(state, "naive png", 8), "[7/48] naive png, repeat 2 of 6, step 4 of 15: warming up");
  state.images_per_s = 544.6;
  state.wait_share = 0.27;
  state.left_s = 185;
  EXPECT_EQ(progress_text(state, "naive png", 8),
            "[7/48] naive png, repeat 2 of 6, step 4 of 15: 545 images/s, 27 % wait, 3 min left");
  state.left_s = 0.4;
  EXPECT_THAT(progress_text(state, "naive png", 8), testing::EndsWith("27 % wait, nearly done"));
  state.left_s = 185;
  state.is_extra = true;
  EXPECT_EQ(
      progress_text(state, "naive png", 8),
      "[7/48] naive png, repeat 2 of 6 as rates vary, step 4 of 15: 545 images/s, 27 % wait, at least 3 min left");
  EXPECT_THAT(progress_text(state, "naive png", 1), Not(HasSubstr("naive"))) << "the only trial needs no name";
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

TEST_F(ProgressTest, ForecastsFromTheRepeatsThatAreDone) {
  Progress progress(report_, options(), true);
  progress.begin(0, 0);
  progress.end(0, 100);
  progress.begin(1, 0);
  progress.end(1, 20);
  progress.begin(0, 1);
  const RunState state = step(progress, {.step = 0, .total_steps = 100, .measured = {}});
  EXPECT_NEAR(*state.left_s, 2 * 100 + 2 * 20, 2);
  EXPECT_FALSE(state.images_per_s);
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

}  // namespace
}  // namespace chexbench::bench
