#include "report/wait_cause.hpp"

#include <gtest/gtest.h>

#include "report/record_factory.hpp"

namespace chexbench::report {
namespace {

using measure::OpCounters;

TrialResult trial_with(std::vector<OpCounters> ops) {
  TrialResult trial = make_trial({}, {100, 100});
  for (RepeatResult& repeat : trial.repeats) repeat.ops = ops;
  return trial;
}

TEST(WaitCause, IsTheOpThatWorksWhileThoseBehindItWaitForInput) {
  const WaitCause cause = wait_cause(trial_with({{.op = "read", .busy_wall_s = 0.1},
                                                 {.op = "map", .busy_wall_s = 5, .blocked_input_s = 0.2, .decode_s = 4},
                                                 {.op = "batch", .busy_wall_s = 0.1, .blocked_input_s = 5},
                                                 {.op = "prefetch", .busy_wall_s = 0.01, .blocked_input_s = 5}}));
  EXPECT_EQ(cause.op, "map");
  EXPECT_EQ(cause.part, "decode");
}

TEST(WaitCause, LiesBeforeAnOpThatWaitsForItsInput) {
  const WaitCause cause = wait_cause(trial_with(
      {{.op = "interleave", .busy_wall_s = 5}, {.op = "map", .busy_wall_s = 1, .blocked_input_s = 4, .decode_s = 1}}));
  EXPECT_EQ(cause.op, "interleave");
  EXPECT_EQ(cause.part, "");
}

TEST(WaitCause, IsNoOpThatWaitsForRoom) {
  const WaitCause cause = wait_cause(trial_with({{.op = "map", .busy_wall_s = 1, .blocked_output_s = 4},
                                                 {.op = "batch", .busy_wall_s = 4, .blocked_input_s = 0.1}}));
  EXPECT_EQ(cause.op, "batch");
}

TEST(WaitCause, NamesTheRestOfAnOpsTimeWhereItsPartsAreShort) {
  const WaitCause cause =
      wait_cause(trial_with({{.op = "map", .busy_wall_s = 5, .read_s = 1, .decode_s = 1.5, .resize_s = 0.5}}));
  EXPECT_EQ(cause.part, "other");
}

TEST(WaitCause, AddsUpRepeats) {
  TrialResult trial = trial_with({{.op = "map", .busy_wall_s = 1, .read_s = 0.6, .decode_s = 0.4}});
  trial.repeats[1].ops[0].decode_s = 3;
  EXPECT_EQ(wait_cause(trial).part, "decode");
}

TEST(WaitCause, IsEmptyWhereNothingStandsOutOrRan) {
  EXPECT_EQ(wait_cause(trial_with({{.op = "map", .busy_wall_s = 1, .blocked_input_s = 2}})).op, "");
  EXPECT_EQ(wait_cause(trial_with({})).op, "");
  EXPECT_EQ(wait_cause(make_trial({}, {})).op, "");
}

TEST(WaitCause, IsToldOnlyOfATrialThatWaits) {
  TrialResult trial = trial_with({{.op = "map", .busy_wall_s = 5, .decode_s = 4}});
  EXPECT_EQ(derive_figures(trial, {trial}).wait_op, "map");
  for (RepeatResult& repeat : trial.repeats) {
    for (StepRecord& step : repeat.steps) step.timings = {.wall_s = 0.1, .wait_s = 0.001, .compute_s = 0.099};
  }
  EXPECT_EQ(derive_figures(trial, {trial}).wait_op, "");
}

}  // namespace
}  // namespace chexbench::report
