#include "engine/cuda/convolution/conv_tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/cuda/convolution/scripted_conv_device.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const PlanRequest kForward{.shape = {.images = 64,
                                     .in_channels = 256,
                                     .height = 56,
                                     .width = 56,
                                     .out_channels = 64,
                                     .in_pixel_stride = 256,
                                     .out_pixel_stride = 64},
                           .precision = spec::Precision::fp16};

class ConvTunerTest : public testing::Test {
 protected:
  ConvTunerTest() { testing::internal::CaptureStderr(); }
  ~ConvTunerTest() override { testing::internal::GetCapturedStderr(); }

  std::string chosen(std::vector<ScriptedPlan> plans) {
    scripted_.plans[ConvPattern::forward] = std::move(plans);
    return tuner_.fastest(kForward).plan.engine;
  }
  // Returns forward's plan with statistics, if it beats a forward of `forward_s` plus a pass of `pass_s`.
  std::optional<TunedPlan> statistics(double forward_s, double pass_s) {
    scripted_.plans[ConvPattern::forward] = {{.engine = "plain", .seconds = forward_s, .statistics_s = pass_s}};
    const TunedPlan forward = tuner_.fastest(kForward);
    return tuner_.forward_statistics(kForward, forward);
  }
  static std::string warnings() {
    const std::string log = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return log;
  }

  ScriptedDevice scripted_;
  const ConvDevice device_ = scripted_.device();
  PlanCache cache_;
  ConvTuner tuner_{device_, cache_};
};

TEST_F(ConvTunerTest, ChoosesTheFastest) {
  EXPECT_EQ(chosen({{.engine = "a", .seconds = 3}, {.engine = "b", .seconds = 1}, {.engine = "c", .seconds = 2}}), "b");
}

TEST_F(ConvTunerTest, OfEquallyFastOnesChoosesTheSmallerWorkspaceThenTheFirst) {
  EXPECT_EQ(chosen({{.engine = "a", .workspace_bytes = 9},
                    {.engine = "b", .workspace_bytes = 7},
                    {.engine = "c", .workspace_bytes = 7}}),
            "b");
}

TEST_F(ConvTunerTest, TimesNoMoreThanTheMostPromising) {
  std::vector<ScriptedPlan> plans(kMostTimed, {.engine = "slow", .seconds = 2});
  plans.push_back({.engine = "fast", .seconds = 1});
  EXPECT_EQ(chosen(plans), "slow");
  EXPECT_EQ(scripted_.built.size(), static_cast<std::size_t>(kMostTimed));
}

TEST_F(ConvTunerTest, KeepsOnlyTheFastestOnTheDevice) {
  chosen({{.engine = "a", .seconds = 3}, {.engine = "b", .seconds = 1}});
  EXPECT_THAT(scripted_.kept, ElementsAre("b"));
}

TEST_F(ConvTunerTest, GivesUpOnWhatIsMuchSlowerThanTheBestSoFar) {
  chosen({{.engine = "a", .seconds = 4}, {.engine = "b", .seconds = 2}, {.engine = "c", .seconds = 3}});
  EXPECT_THAT(scripted_.gave_up_after_s,
              ElementsAre(std::numeric_limits<double>::infinity(), 4 * kHopeless, 2 * kHopeless));
}

TEST_F(ConvTunerTest, PassesOverAPlanThatLeavesResultsUnwritten) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(chosen({{.engine = "lazy", .seconds = 1, .sample = {1, nan}}, {.engine = "b", .seconds = 2}}), "b");
  try {
    chosen({{.engine = "lazy", .sample = {nan}}});
    ADD_FAILURE() << "chosen";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("lazy leaves some of its results unwritten"));
  }
}

TEST_F(ConvTunerTest, PassesOverAFastPlanWhoseResultsDifferFromThoseOfMostWithAWarning) {
  EXPECT_EQ(chosen({{.engine = "wrong", .seconds = 1, .sample = {1, 2}},
                    {.engine = "b", .seconds = 3, .sample = {1, 1}},
                    {.engine = "c", .seconds = 2, .sample = {1, 1.001f}}}),
            "c");
  EXPECT_THAT(warnings(), HasSubstr("the results of its plan wrong for forward of n64"));
}

TEST_F(ConvTunerTest, AnErrorOfTheDeviceItselfEndsTheTuningAndNamesThePlan) {
  scripted_.plans[ConvPattern::forward] = {{.engine = "breaker", .breaks_device = true}, {.engine = "b"}};
  try {
    tuner_.fastest(kForward);
    ADD_FAILURE() << "chosen";
  } catch (const DeviceLostError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the plan breaker for forward of n64"));
    EXPECT_THAT(error.what(), HasSubstr("an illegal address"));
  }
  EXPECT_THAT(scripted_.timed, ElementsAre("breaker"));
}

TEST_F(ConvTunerTest, ADeviceThatAFusedPlanBreaksIsNotTakenForAPlanThatDoesNotRun) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .breaks_device = true}};
  EXPECT_THROW(statistics(3, 2), DeviceLostError);
  EXPECT_EQ(tuner_.counts().without_fused, 0);
}

TEST_F(ConvTunerTest, AfterItsTimeTakesTheFirstThatRunsAndDoesNotKeepIt) {
  ConvTuner hurried(device_, cache_, {.seconds = -1});
  scripted_.plans[ConvPattern::forward] = {
      {.engine = "stuck", .runs = false}, {.engine = "slow", .seconds = 2}, {.engine = "fast", .seconds = 1}};
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 0.1}};
  const TunedPlan forward = hurried.fastest(kForward);
  EXPECT_EQ(forward.plan.engine, "slow");
  EXPECT_EQ(cache_.find(plan_key(device_.machine, kForward)), nullptr);
  EXPECT_FALSE(hurried.forward_statistics(kForward, forward).has_value());
  EXPECT_EQ(hurried.counts().hurried, 1);
}

TEST_F(ConvTunerTest, FusedPlansCanBeForced) {
  ConvTuner forcing(device_, cache_, {.forces_fused = true});
  scripted_.plans[ConvPattern::forward] = {{.engine = "plain", .seconds = 1}};
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 99}};
  EXPECT_TRUE(forcing.forward_statistics(kForward, forcing.fastest(kForward)).has_value());
}

TEST_F(ConvTunerTest, PassesOverWhatIsRefusedOrLacksADriverOrDoesNotRun) {
  std::vector<ScriptedPlan> plans(kMostTimed, {.engine = "refused", .seconds = 1, .state = PlanState::refused});
  plans.push_back({.engine = "driver", .seconds = 1, .state = PlanState::needs_driver});
  plans.push_back({.engine = "stuck", .seconds = 1, .runs = false});
  plans.push_back({.engine = "runs", .seconds = 2});
  EXPECT_EQ(chosen(plans), "runs");
  EXPECT_THAT(scripted_.timed, ElementsAre("stuck", "runs"));
}

TEST_F(ConvTunerTest, WhereNoneRunsTheErrorNamesTheRequestAndAReason) {
  for (const ScriptedPlan& plan :
       {ScriptedPlan{.engine = "a", .state = PlanState::refused}, ScriptedPlan{.engine = "a", .runs = false}}) {
    try {
      chosen({plan});
      ADD_FAILURE() << "chosen";
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("forward of n64 256x56x56 -> 64 k1 s1 in fp16"));
      EXPECT_THAT(error.what(), HasSubstr(plan.runs ? "a was refused" : "a did not start"));
    }
  }
}

TEST_F(ConvTunerTest, FreesTheMemoryForTiming) {
  chosen({{.engine = "a"}});
  EXPECT_EQ(scripted_.timers, 0);
}

TEST_F(ConvTunerTest, WhatTheCacheKnowsIsNotTimedAndFoundByItsEngineNotItsIndex) {
  chosen({{.engine = "a", .seconds = 2}, {.engine = "b", .seconds = 1}});
  scripted_.timed.clear();
  scripted_.built.clear();
  EXPECT_EQ(chosen({{.engine = "c"}, {.engine = "a"}, {.engine = "b", .seconds = 9}}), "b");
  EXPECT_THAT(scripted_.timed, IsEmpty());
  EXPECT_THAT(scripted_.built, ElementsAre("b"));
  EXPECT_EQ(tuner_.counts().cached, 1);
  EXPECT_EQ(tuner_.counts().timed, 1);
}

TEST_F(ConvTunerTest, ACachedPlanThatIsNotOfferedOrNoLongerBuildsIsTimedAnewWithAWarning) {
  for (const auto& plans : {std::vector<ScriptedPlan>{{.engine = "b"}},
                            std::vector<ScriptedPlan>{{.engine = "a", .state = PlanState::refused}, {.engine = "b"}}}) {
    cache_.add(plan_key(device_.machine, kForward), {.engine = "a", .seconds = 0.5});
    EXPECT_EQ(chosen(plans), "b");
    EXPECT_THAT(warnings(), HasSubstr("the plan a that was the fastest for forward of n64"));
    EXPECT_EQ(cache_.find(plan_key(device_.machine, kForward))->engine, "b");
  }
}

TEST_F(ConvTunerTest, StatisticsComeWithTheForwardPassOnlyWhereThatIsFaster) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 4, .statistics_s = 1}};
  const std::optional<TunedPlan> fused = statistics(3, 2.5);
  ASSERT_TRUE(fused.has_value());
  EXPECT_EQ(fused->plan.engine, "fused");
}

TEST_F(ConvTunerTest, StatisticsTakeAPassOfTheirOwnWhereThatIsFasterOrAsFast) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 4, .statistics_s = 1}};
  EXPECT_FALSE(statistics(3, 2).has_value());
  EXPECT_EQ(scripted_.timers, 0);
}

TEST_F(ConvTunerTest, ThatFusedStatisticsDoNotPayIsRememberedWithoutPlanningThem) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 9}};
  EXPECT_FALSE(statistics(3, 2).has_value());
  const int timed = tuner_.counts().timed;
  scripted_.built.clear();
  EXPECT_FALSE(statistics(3, 2).has_value());
  EXPECT_EQ(tuner_.counts().timed, timed);
  EXPECT_THAT(scripted_.built, ElementsAre("plain"));
}

TEST_F(ConvTunerTest, FusedStatisticsThatPaidAreNotTimedAgain) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 1}};
  EXPECT_TRUE(statistics(3, 2).has_value());
  const int timed = tuner_.counts().timed;
  EXPECT_TRUE(statistics(3, 2).has_value());
  EXPECT_EQ(tuner_.counts().timed, timed);
}

TEST_F(ConvTunerTest, ThePassIsTimedAgainBehindAnotherForwardPlan) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 4, .statistics_s = 1}};
  EXPECT_TRUE(statistics(3, 3).has_value());
  cache_.add(plan_key(device_.machine, kForward), {.engine = "faster", .seconds = 1});
  scripted_.plans[ConvPattern::forward] = {{.engine = "faster", .seconds = 1, .statistics_s = 3}};
  const TunedPlan forward = tuner_.fastest(kForward);
  EXPECT_FALSE(tuner_.forward_statistics(kForward, forward).has_value());
}

TEST_F(ConvTunerTest, FusedStatisticsThatAreNotOfferedOrDoNotRunAreCountedWithTheFirstReason) {
  EXPECT_FALSE(statistics(3, 2).has_value());
  EXPECT_EQ(tuner_.counts().without_fused, 1);
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .state = PlanState::refused}};
  EXPECT_FALSE(statistics(3, 2).has_value());
  EXPECT_EQ(tuner_.counts().without_fused, 2);
  EXPECT_THAT(tuner_.counts().fused_error, HasSubstr("nothing offered for forward_statistics"));
}

TEST_F(ConvTunerTest, ACachedFusedPlanThatNoLongerBuildsGivesWayToThePlainOneWithAWarning) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 1}};
  EXPECT_TRUE(statistics(3, 2).has_value());
  scripted_.plans[ConvPattern::forward_statistics][0].state = PlanState::refused;
  EXPECT_FALSE(statistics(3, 2).has_value());
  EXPECT_THAT(warnings(), HasSubstr("the plan fused that was the fastest for forward_statistics of n64"));
  EXPECT_EQ(tuner_.counts().without_fused, 1);
}

// A data gradient of 2 s; separately, a pass for a join's sums takes 4 s and one for a norm's sums 1 s.
class ConvTunerBehindJoins : public ConvTunerTest {
 protected:
  ConvTunerBehindJoins() {
    scripted_.plans[ConvPattern::data_gradient] = {{.engine = "plain", .seconds = 2}};
    scripted_.join_sums_s = 4;
    scripted_.norm_sums_s = 1;
  }

  std::optional<TunedPlan> join() {
    const TunedPlan plain = tuner_.fastest(request_);
    return tuner_.join(request_, plain);
  }
  std::optional<TunedPlan> join_norms() {
    const TunedPlan plain = tuner_.fastest(request_);
    return tuner_.join_norms(request_, plain, tuner_.join(request_, plain));
  }
  void take(ConvPattern pattern, double seconds) {
    scripted_.plans[pattern] = {{.engine = "fused", .seconds = seconds}};
  }

  const PlanRequest request_ = [] {
    PlanRequest request = kForward;
    request.pattern = ConvPattern::data_gradient;
    return request;
  }();
};

TEST_F(ConvTunerBehindJoins, AJoinMustBeFasterThanTheDataGradientAndItsPass) {
  take(ConvPattern::data_gradient_join, 5.9);
  EXPECT_TRUE(join().has_value());
}

TEST_F(ConvTunerBehindJoins, AJoinThatIsNotFasterIsNotTaken) {
  take(ConvPattern::data_gradient_join, 6.1);
  EXPECT_FALSE(join().has_value());
}

TEST_F(ConvTunerBehindJoins, AJoinOfTwoNormsMustBeFasterThanThePassesOfBoth) {
  take(ConvPattern::data_gradient_join_norms, 6.9);
  EXPECT_TRUE(join_norms().has_value());
  EXPECT_EQ(tuner_.counts().without_fused, 1) << "the join of one norm is not offered";
}

TEST_F(ConvTunerBehindJoins, AJoinOfTwoNormsMustBeFasterThanAJoinAndThePassOfTheOther) {
  take(ConvPattern::data_gradient_join, 5);
  take(ConvPattern::data_gradient_join_norms, 6.1);
  EXPECT_FALSE(join_norms().has_value());
}

TEST_F(ConvTunerBehindJoins, AJoinThatIsNotOfferedOrDoesNotRunIsCounted) {
  EXPECT_FALSE(join().has_value());
  EXPECT_EQ(tuner_.counts().without_fused, 1);
  scripted_.plans[ConvPattern::data_gradient_join] = {{.engine = "fused", .runs = false}};
  EXPECT_FALSE(join().has_value());
  EXPECT_EQ(tuner_.counts().without_fused, 2);
}

// A forward pass of 2 s and statistics of 1 s; separately, a join takes 4 s and a norm 3 s.
class ConvTunerOfForwardJoins : public ConvTunerTest {
 protected:
  ConvTunerOfForwardJoins() {
    scripted_.plans[ConvPattern::forward] = {{.engine = "plain", .seconds = 2, .statistics_s = 1}};
    scripted_.join_s = 4;
    scripted_.norm_s = 3;
  }

  std::optional<TunedPlan> join() { return tuner_.joined_forward(kForward, tuner_.fastest(kForward), false); }
  std::optional<TunedPlan> join_norms() {
    const TunedPlan plain = tuner_.fastest(kForward);
    return tuner_.joined_norms_forward(kForward, plain, false, tuner_.joined_forward(kForward, plain, false));
  }
  void take(ConvPattern pattern, double seconds) {
    scripted_.plans[pattern] = {{.engine = "fused", .seconds = seconds, .statistics_s = 0.1}};
  }
};

TEST_F(ConvTunerOfForwardJoins, AJoinMustBeFasterThanItsPassAndForwardWithStatistics) {
  take(ConvPattern::joined_forward_statistics, 6.8);
  EXPECT_TRUE(join().has_value());
}

TEST_F(ConvTunerOfForwardJoins, ItsOwnFinishOfTheStatisticsAndTheSmallKernelCount) {
  scripted_.affine_s = 0.05;
  take(ConvPattern::joined_forward_statistics, 6.86);
  EXPECT_FALSE(join().has_value());
}

TEST_F(ConvTunerOfForwardJoins, ForwardMayGiveTheSumsAlready) {
  take(ConvPattern::joined_forward_statistics, 6.8);
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "sums", .seconds = 2, .statistics_s = 0.1}};
  PlanRequest request = kForward;
  request.pattern = ConvPattern::forward_statistics;
  EXPECT_FALSE(tuner_.joined_forward(kForward, tuner_.fastest(request), true).has_value());
}

TEST_F(ConvTunerOfForwardJoins, AJoinOfTwoNormsMustBeFasterThanThePassesOfBoth) {
  take(ConvPattern::joined_norms_forward_statistics, 9.8);
  EXPECT_TRUE(join_norms().has_value());
}

TEST_F(ConvTunerOfForwardJoins, AJoinOfTwoNormsMustBeFasterThanAJoinAndThePassOfTheOther) {
  take(ConvPattern::joined_forward_statistics, 5);
  take(ConvPattern::joined_norms_forward_statistics, 8.05);
  EXPECT_FALSE(join_norms().has_value());
}

}  // namespace
}  // namespace chexbench::engine::cuda
