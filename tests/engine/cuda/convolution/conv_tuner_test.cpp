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
  // Plans forward or the data gradient, then these fused patterns. Returns whether the last one is taken.
  static bool takes(ConvTuner& tuner, ConvPattern plain, const std::vector<ConvPattern>& fused) {
    ShapePlans plans(kForward);
    plans.add(plain, tuner.fastest(plans.request(plain)));
    for (const ConvPattern pattern : fused) tuner.add_if_faster(pattern, plans);
    const TunedPlan* const plan = plans.find(fused.back());
    if (plan != nullptr) {
      EXPECT_TRUE(plan->plan.engine.starts_with("fused"));
    }
    return plan != nullptr;
  }
  // Returns whether forward with statistics beats a forward of `forward_s` plus a pass of `pass_s`.
  bool statistics(double forward_s, double pass_s) {
    scripted_.plans[ConvPattern::forward] = {{.engine = "plain", .seconds = forward_s, .statistics_s = pass_s}};
    return takes(tuner_, ConvPattern::forward, {ConvPattern::forward_statistics});
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
  EXPECT_EQ(hurried.fastest(kForward).plan.engine, "slow");
  EXPECT_EQ(cache_.find(plan_key(device_.machine, kForward)), nullptr);
  EXPECT_FALSE(takes(hurried, ConvPattern::forward, {ConvPattern::forward_statistics}));
  EXPECT_EQ(hurried.counts().hurried, 2);
}

TEST_F(ConvTunerTest, FusedPlansCanBeForced) {
  ConvTuner forcing(device_, cache_, {.forces_fused = true});
  scripted_.plans[ConvPattern::forward] = {{.engine = "plain", .seconds = 1}};
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 99}};
  EXPECT_TRUE(takes(forcing, ConvPattern::forward, {ConvPattern::forward_statistics}));
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
  EXPECT_TRUE(statistics(3, 2.5));
}

TEST_F(ConvTunerTest, StatisticsTakeAPassOfTheirOwnWhereThatIsFasterOrAsFast) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 4, .statistics_s = 1}};
  EXPECT_FALSE(statistics(3, 2));
  EXPECT_EQ(scripted_.timers, 0);
}

TEST_F(ConvTunerTest, ThatFusedStatisticsDoNotPayIsRememberedWithoutPlanningThem) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 9}};
  EXPECT_FALSE(statistics(3, 2));
  const int timed = tuner_.counts().timed;
  scripted_.built.clear();
  EXPECT_FALSE(statistics(3, 2));
  EXPECT_EQ(tuner_.counts().timed, timed);
  EXPECT_THAT(scripted_.built, ElementsAre("plain"));
}

TEST_F(ConvTunerTest, FusedStatisticsThatPaidAreNotTimedAgain) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 1}};
  EXPECT_TRUE(statistics(3, 2));
  const int timed = tuner_.counts().timed;
  EXPECT_TRUE(statistics(3, 2));
  EXPECT_EQ(tuner_.counts().timed, timed);
}

TEST_F(ConvTunerTest, ThePassIsTimedAgainBehindAnotherForwardPlan) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 4, .statistics_s = 1}};
  EXPECT_TRUE(statistics(3, 3));
  cache_.add(plan_key(device_.machine, kForward), {.engine = "faster", .seconds = 1});
  scripted_.plans[ConvPattern::forward] = {{.engine = "faster", .seconds = 1, .statistics_s = 3}};
  EXPECT_FALSE(takes(tuner_, ConvPattern::forward, {ConvPattern::forward_statistics}));
}

TEST_F(ConvTunerTest, FusedStatisticsThatAreNotOfferedOrDoNotRunAreCountedWithTheFirstReason) {
  EXPECT_FALSE(statistics(3, 2));
  EXPECT_EQ(tuner_.counts().without_fused, 1);
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .state = PlanState::refused}};
  EXPECT_FALSE(statistics(3, 2));
  EXPECT_EQ(tuner_.counts().without_fused, 2);
  EXPECT_THAT(tuner_.counts().fused_error, HasSubstr("nothing offered for forward_statistics"));
}

TEST_F(ConvTunerTest, ACachedFusedPlanThatNoLongerBuildsGivesWayToThePlainOneWithAWarning) {
  scripted_.plans[ConvPattern::forward_statistics] = {{.engine = "fused", .seconds = 1}};
  EXPECT_TRUE(statistics(3, 2));
  scripted_.plans[ConvPattern::forward_statistics][0].state = PlanState::refused;
  EXPECT_FALSE(statistics(3, 2));
  EXPECT_THAT(warnings(), HasSubstr("the plan fused that was the fastest for forward_statistics of n64"));
  EXPECT_EQ(tuner_.counts().without_fused, 1);
}

// A data gradient of 2 s; separately, a pass for a join's sums takes 4 s and one for a norm's sums 1 s.
class ConvTunerBehindJoins : public ConvTunerTest {
 protected:
  ConvTunerBehindJoins() {
    scripted_.plans[ConvPattern::data_gradient] = {{.engine = "plain", .seconds = 2}};
    scripted_.own_pass_s[OwnPass::join_sums] = 4;
    scripted_.own_pass_s[OwnPass::norm_sums] = 1;
  }
  void offer(ConvPattern pattern, double seconds) {
    scripted_.plans[pattern] = {{.engine = "fused", .seconds = seconds}};
  }
  bool takes_join() { return takes(tuner_, ConvPattern::data_gradient, {ConvPattern::data_gradient_join}); }
  bool takes_join_of_norms() {
    return takes(tuner_, ConvPattern::data_gradient,
                 {ConvPattern::data_gradient_join, ConvPattern::data_gradient_join_norms});
  }
};

TEST_F(ConvTunerBehindJoins, AJoinMustBeFasterThanTheDataGradientAndItsPass) {
  offer(ConvPattern::data_gradient_join, 5.9);
  EXPECT_TRUE(takes_join());
  scripted_.own_pass_s[OwnPass::join_sums] = 3.8;
  EXPECT_TRUE(takes_join()) << "the pass is not timed again";
}

TEST_F(ConvTunerBehindJoins, AJoinThatIsNotFasterIsNotTaken) {
  offer(ConvPattern::data_gradient_join, 6.1);
  EXPECT_FALSE(takes_join());
}

TEST_F(ConvTunerBehindJoins, AJoinOfTwoNormsMustBeFasterThanThePassesOfBoth) {
  offer(ConvPattern::data_gradient_join_norms, 6.9);
  EXPECT_TRUE(takes_join_of_norms());
  EXPECT_EQ(tuner_.counts().without_fused, 1) << "the join of one norm is not offered";
}

TEST_F(ConvTunerBehindJoins, AJoinOfTwoNormsMustBeFasterThanAJoinAndThePassOfTheOther) {
  offer(ConvPattern::data_gradient_join, 5);
  offer(ConvPattern::data_gradient_join_norms, 6.1);
  EXPECT_FALSE(takes_join_of_norms());
}

TEST_F(ConvTunerBehindJoins, AJoinThatIsNotOfferedOrDoesNotRunIsCounted) {
  EXPECT_FALSE(takes_join());
  EXPECT_EQ(tuner_.counts().without_fused, 1);
  scripted_.plans[ConvPattern::data_gradient_join] = {{.engine = "fused", .runs = false}};
  EXPECT_FALSE(takes_join());
  EXPECT_EQ(tuner_.counts().without_fused, 2);
}

// A forward pass of 2 s and statistics of 1 s; separately, a join takes 4 s and a norm 3 s.
TEST_F(ConvTunerTest, AJoinInForwardMustBeFasterThanAllPassesThatItReplaces) {
  struct Offered {
    ConvPattern pattern;
    double seconds;
  };
  struct JoinCase {
    const char* what;
    std::vector<Offered> offered;  // each finishes its statistics in 0.1 s
    double affine_s;
    bool is_taken;
  };
  constexpr auto kSums = ConvPattern::forward_statistics, kJoin = ConvPattern::joined_forward_statistics,
                 kNorms = ConvPattern::joined_norms_forward_statistics;
  for (const JoinCase& each :
       {JoinCase{"its pass, and forward with statistics", {{kJoin, 6.8}}, 0, true},
        JoinCase{"its own small kernel counts", {{kJoin, 6.86}}, 0.05, false},
        JoinCase{"forward may give the sums already", {{kSums, 2}, {kJoin, 6.8}}, 0, false},
        JoinCase{"the passes of both norms", {{kNorms, 9.8}}, 0, true},
        JoinCase{"both of its small kernels count", {{kNorms, 9.8}}, 0.06, false},
        JoinCase{"a join, and the pass of the other norm", {{kJoin, 5}, {kNorms, 8.05}}, 0, false}}) {
    ScriptedDevice scripted;
    scripted.plans[ConvPattern::forward] = {{.engine = "plain", .seconds = 2, .statistics_s = 1}};
    scripted.own_pass_s[OwnPass::join] = 4;
    scripted.own_pass_s[OwnPass::norm] = 3;
    scripted.own_pass_s[OwnPass::affine] = each.affine_s;
    std::vector<ConvPattern> patterns;
    for (const Offered& offered : each.offered) {
      scripted.plans[offered.pattern] = {{.engine = "fused", .seconds = offered.seconds, .statistics_s = 0.1}};
      patterns.push_back(offered.pattern);
    }
    PlanCache cache;
    const ConvDevice device = scripted.device();
    ConvTuner tuner(device, cache);
    EXPECT_EQ(takes(tuner, ConvPattern::forward, patterns), each.is_taken) << each.what;
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
