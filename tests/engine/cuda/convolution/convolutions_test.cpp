#include "engine/cuda/convolution/convolutions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "core/interrupt.hpp"
#include "engine/cuda/convolution/convolutions_fixture.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ConvolutionsTest, ForwardReadsInputAndWeightsAndWritesTheOutputAndItsSums) {
  Convolutions convolutions = made();
  convolutions.use_workspace(at(9));
  float sum = 0, squares = 0;
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::forward_statistics));
  convolutions.forward(kShape, at(1), at(2), at(3), {&sum, &squares}, {}, stream_);
  const ScriptedRun& run = scripted_.runs.at(0);
  EXPECT_EQ(run.engine, "fused");
  EXPECT_EQ(run.memory, (Memory{{OperandRole::x, at(1)},
                                {OperandRole::w, at(2)},
                                {OperandRole::y, at(3)},
                                {OperandRole::sum, &sum},
                                {OperandRole::sum_of_squares, &squares}}));
  EXPECT_EQ(run.workspace, at(9));
  EXPECT_EQ(run.stream, stream_);
}

TEST_F(ConvolutionsTest, ForwardWithoutSumsIsThePlainPlan) {
  Convolutions convolutions = made();
  convolutions.forward(kShape, at(1), at(2), at(3), {}, {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).engine, "plain");
  EXPECT_EQ(scripted_.runs.at(0).memory,
            (Memory{{OperandRole::x, at(1)}, {OperandRole::w, at(2)}, {OperandRole::y, at(3)}}));
}

TEST_F(ConvolutionsTest, SumsAreNotTouchedWhereThePlanGivesNone) {
  Convolutions convolutions = made();
  float sum = 0, squares = 0;
  ASSERT_FALSE(convolutions.has(kOfImages, ConvPattern::forward_statistics));
  convolutions.forward(kOfImages, at(1), at(2), at(3), {&sum, &squares}, {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).memory.size(), 3u);
}

TEST_F(ConvolutionsTest, TheDataGradientReadsOutputGradientAndWeights) {
  Convolutions convolutions = made();
  convolutions.data_gradient(kShape, at(1), at(2), at(3), {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).pattern, ConvPattern::data_gradient);
  EXPECT_EQ(scripted_.runs.at(0).memory,
            (Memory{{OperandRole::dy, at(1)}, {OperandRole::w, at(2)}, {OperandRole::dx, at(3)}}));
}

TEST_F(ConvolutionsTest, TheWeightGradientReadsInputAndOutputGradient) {
  Convolutions convolutions = made();
  convolutions.weight_gradient(kShape, at(1), at(2), at(3), {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).pattern, ConvPattern::weight_gradient);
  EXPECT_EQ(scripted_.runs.at(0).memory,
            (Memory{{OperandRole::x, at(1)}, {OperandRole::dy, at(2)}, {OperandRole::dw, at(3)}}));
}

TEST_F(ConvolutionsTest, TheWorkspaceIsThatOfTheNeediestPlanThatMayRun) {
  EXPECT_EQ(made().workspace_bytes(), 300u);
  scripted_.plans[ConvPattern::forward_statistics][0].seconds = 99;
  EXPECT_EQ(made().workspace_bytes(), 200u);
}

TEST_F(ConvolutionsTest, SumsAreOnlyAskedForWhereThePatternIsWanted) {
  EXPECT_FALSE(made({.precision = spec::Precision::bf16}).has(kShape, ConvPattern::forward_statistics));
  for (const ConvolutionsConfig& config : unfused({.precision = spec::Precision::fp16}))
    EXPECT_FALSE(made(config).has(kShape, ConvPattern::forward_statistics));
  EXPECT_THAT(scripted_.built, testing::Not(testing::Contains("fused")));
}

TEST_F(ConvolutionsTest, WithoutFusedPlansForwardRunsThePlainOneAndOneWarningSaysSo) {
  scripted_.plans.erase(ConvPattern::forward_statistics);
  ConvShape another = kShape;
  another.images = 1;
  testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  Convolutions convolutions({kShape, another}, {.precision = spec::Precision::fp16}, scripted_.device());
  const std::string log = testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  EXPECT_THAT(log, HasSubstr("2 fused plans do not run here"));
  EXPECT_EQ(log.find("warning"), log.rfind("warning"));
  EXPECT_FALSE(convolutions.has(kShape, ConvPattern::forward_statistics));
  convolutions.forward(kShape, at(1), at(2), at(3), {}, {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).engine, "plain");
}

TEST_F(ConvolutionsTest, ShapesThatWereNotNamedAndGradientsOfImagesAreDefectsOfTheCaller) {
  Convolutions convolutions = made();
  ConvShape unknown = kShape;
  unknown.images = 1;
  EXPECT_THROW(convolutions.forward(unknown, at(1), at(2), at(3), {}, {}, stream_), std::logic_error);
  EXPECT_THROW(convolutions.data_gradient(kOfImages, at(1), at(2), at(3), {}, stream_), std::logic_error);
}

TEST_F(ConvolutionsTest, ASecondStartTimesNothingAndSaysSo) {
  const std::string file = testing::TempDir() + "convolutions-" + std::to_string(getpid());
  const ConvolutionsConfig config{.precision = spec::Precision::fp16, .cache_file = file};
  made(config);
  testing::internal::GetCapturedStderr();
  testing::internal::CaptureStderr();
  scripted_.timed.clear();
  made(config);
  EXPECT_THAT(scripted_.timed, IsEmpty());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("convolutions: 8 timings known from " + file + ", 0 made"));
  testing::internal::CaptureStderr();
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".lock");
}

TEST_F(ConvolutionsTest, WhatWasTimedIsKeptEvenIfALaterShapeCannotRun) {
  const std::string file = testing::TempDir() + "convolutions-" + std::to_string(getpid());
  const ConvolutionsConfig config{.precision = spec::Precision::fp16, .cache_file = file};
  scripted_.plans.erase(ConvPattern::weight_gradient);
  EXPECT_THROW(made(config), DeviceError);
  EXPECT_NE(PlanCache(file).find(
                plan_key(scripted_.device().machine, {.shape = kShape,
                                                      .precision = spec::Precision::fp16,
                                                      .workspace_limit_bytes = config.workspace_limit_bytes})),
            nullptr);
  std::filesystem::remove(file);
  std::filesystem::remove(file + ".lock");
}

// Each death test runs in a separate process, whose signals do not reach the others. It needs stderr for itself.
class ConvolutionsDeathTest : public ConvolutionsTest {
 protected:
  ConvolutionsDeathTest() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    testing::internal::GetCapturedStderr();
  }
  ~ConvolutionsDeathTest() override {
    testing::internal::CaptureStderr();
    std::filesystem::remove(file_);
    std::filesystem::remove(file_ + ".lock");
  }

  // Times convolutions, raises the signal when `engine` is timed the `number`-th time, and exits as main() would.
  [[noreturn]] void tune_until(const std::string& engine, int number, int signal) {
    install_interrupt_handlers();
    scripted_.on_timing = [&, left = number]() mutable {
      if (scripted_.timed.back() == engine && --left == 0) std::raise(signal);
    };
    try {
      made({.precision = spec::Precision::fp16, .cache_file = file_});
    } catch (const Error& error) {
      std::_Exit(static_cast<int>(error.code()));
    }
    std::_Exit(0);
  }
  bool knows(ConvPattern pattern, const ConvShape& shape) {
    return PlanCache(file_).find(
               plan_key(scripted_.device().machine, {.pattern = pattern,
                                                     .shape = shape,
                                                     .precision = spec::Precision::fp16,
                                                     .workspace_limit_bytes = kMostWorkspaceBytes})) != nullptr;
  }

  const std::string file_ = testing::TempDir() + "convolutions-killed";
};

TEST_F(ConvolutionsDeathTest, ASignalEndsTheTimingAndWhatWasTimedIsKept) {
  EXPECT_EXIT(tune_until("data", 1, SIGTERM), testing::ExitedWithCode(143), "");
  EXPECT_TRUE(knows(ConvPattern::data_gradient, kShape));
  EXPECT_FALSE(knows(ConvPattern::weight_gradient, kShape));
}

TEST_F(ConvolutionsDeathTest, AKilledTimingKeepsTheShapesBefore) {
  EXPECT_EXIT(tune_until("weight", 2, SIGKILL), testing::KilledBySignal(SIGKILL), "");
  EXPECT_TRUE(knows(ConvPattern::weight_gradient, kShape));
  EXPECT_FALSE(knows(ConvPattern::forward, kOfImages));
}

class ConvolutionsBehindNorms : public ConvolutionsTest {
 protected:
  ConvolutionsBehindNorms() {
    scripted_.plans[ConvPattern::normalized_forward_statistics] = {{.engine = "behind", .statistics_s = 0}};
    scripted_.plans[ConvPattern::normalized_weight_gradient] = {{.engine = "behind too"}};
  }
  const ConvolutionsConfig config_{.precision = spec::Precision::fp16, .behind_norms = {kShape}};
};

class DataGradientsBehindNorms : public ConvolutionsTest {
 protected:
  DataGradientsBehindNorms() { scripted_.plans[ConvPattern::data_gradient_norm] = {{.engine = "with norm"}}; }
  const ConvolutionsConfig config_{.precision = spec::Precision::fp16, .behind_norms = {kShape}};
};

TEST_F(DataGradientsBehindNorms, AllOfTheNormIsHandedOver) {
  Convolutions convolutions = made(config_);
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::data_gradient_norm));
  float rows[9] = {};
  convolutions.data_gradient(kShape, at(1), at(2), at(3),
                             {.x = at(4),
                              .mean = &rows[0],
                              .inverse_deviation = &rows[1],
                              .weight = &rows[2],
                              .bias = &rows[3],
                              .weight_gradient = &rows[4],
                              .bias_gradient = &rows[5],
                              .b = &rows[6],
                              .c = &rows[7],
                              .scratch = &rows[8]},
                             stream_);
  EXPECT_EQ(scripted_.runs.at(0).pattern, ConvPattern::data_gradient_norm);
  EXPECT_EQ(scripted_.runs.at(0).memory, (Memory{{OperandRole::dy, at(1)},
                                                 {OperandRole::w, at(2)},
                                                 {OperandRole::dx, at(3)},
                                                 {OperandRole::x, at(4)},
                                                 {OperandRole::mean, &rows[0]},
                                                 {OperandRole::inverse_deviation, &rows[1]},
                                                 {OperandRole::scale, &rows[2]},
                                                 {OperandRole::bias, &rows[3]},
                                                 {OperandRole::scale_gradient, &rows[4]},
                                                 {OperandRole::bias_gradient, &rows[5]},
                                                 {OperandRole::dx_per_x, &rows[6]},
                                                 {OperandRole::dx_offset, &rows[7]},
                                                 {OperandRole::dx_per_dy, &rows[8]}}));
}

// Separately, the data gradient takes 1 s, and the sums come on top; together they take the plan's time.
TEST_F(DataGradientsBehindNorms, TheNormIsOnlyTakenWhereThatIsFasterThanAPassForItsSums) {
  scripted_.own_pass_s[OwnPass::norm_sums] = 0.5;
  EXPECT_TRUE(made(config_).has(kShape, ConvPattern::data_gradient_norm));
  scripted_.own_pass_s[OwnPass::norm_sums] = 0;
  EXPECT_FALSE(made(config_).has(kShape, ConvPattern::data_gradient_norm));
  scripted_.own_pass_s[OwnPass::norm_sums] = 0.5;
  scripted_.plans[ConvPattern::data_gradient_norm][0].seconds = 1.5;
  EXPECT_FALSE(made(config_).has(kShape, ConvPattern::data_gradient_norm));
}

TEST_F(DataGradientsBehindNorms, ThePlainPassStaysForConvolutionsOfTheSameShapeWithoutANorm) {
  Convolutions convolutions = made(config_);
  convolutions.data_gradient(kShape, at(1), at(2), at(3), {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).pattern, ConvPattern::data_gradient);
}

TEST_F(DataGradientsBehindNorms, NoneIsAskedForUnfusedOrDeterministicOrElsewhere) {
  for (const ConvolutionsConfig& config : unfused(config_))
    EXPECT_FALSE(made(config).has(kShape, ConvPattern::data_gradient_norm));
  Convolutions elsewhere = made();
  EXPECT_FALSE(elsewhere.has(kShape, ConvPattern::data_gradient_norm));
  EXPECT_THROW(elsewhere.data_gradient(kShape, at(1), at(2), at(3), {.x = at(4)}, stream_), std::logic_error);
}

TEST_F(DataGradientsBehindNorms, WhereThePlanDoesNotRunThePlainOneDoes) {
  scripted_.plans[ConvPattern::data_gradient_norm][0].state = PlanState::refused;
  EXPECT_FALSE(made(config_).has(kShape, ConvPattern::data_gradient_norm));
}

TEST_F(ConvolutionsBehindNorms, APrologueIsHandedOverWithTheRest) {
  Convolutions convolutions = made(config_);
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::normalized_forward_statistics));
  float sum = 0, squares = 0;
  convolutions.forward(kShape, at(1), at(2), at(3), {&sum, &squares}, {at(4), at(5)}, stream_);
  convolutions.weight_gradient(kShape, at(1), at(2), at(3), {at(4), at(5)}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).engine, "behind");
  EXPECT_EQ(scripted_.runs.at(0).memory, (Memory{{OperandRole::x, at(1)},
                                                 {OperandRole::w, at(2)},
                                                 {OperandRole::y, at(3)},
                                                 {OperandRole::scale, at(4)},
                                                 {OperandRole::bias, at(5)},
                                                 {OperandRole::sum, &sum},
                                                 {OperandRole::sum_of_squares, &squares}}));
  EXPECT_EQ(scripted_.runs.at(1).engine, "behind too");
  EXPECT_EQ(scripted_.runs.at(1).memory, (Memory{{OperandRole::x, at(1)},
                                                 {OperandRole::dy, at(2)},
                                                 {OperandRole::dw, at(3)},
                                                 {OperandRole::scale, at(4)},
                                                 {OperandRole::bias, at(5)}}));
}

TEST_F(ConvolutionsBehindNorms, PlainPassesStayForConvolutionsOfTheSameShapeWithoutANorm) {
  Convolutions convolutions = made(config_);
  convolutions.forward(kShape, at(1), at(2), at(3), {}, {}, stream_);
  convolutions.weight_gradient(kShape, at(1), at(2), at(3), {}, stream_);
  EXPECT_EQ(scripted_.runs.at(0).pattern, ConvPattern::forward);
  EXPECT_EQ(scripted_.runs.at(1).pattern, ConvPattern::weight_gradient);
}

// Separately, norm, forward with sums, and weight gradient take 1 s each; fused, the last two take 1 s each.
TEST_F(ConvolutionsBehindNorms, APrologueIsOnlyTakenWhereBothPassesTogetherAreFasterWithIt) {
  scripted_.own_pass_s[OwnPass::norm] = 0;
  EXPECT_FALSE(made(config_).has(kShape, ConvPattern::normalized_forward_statistics));
  scripted_.own_pass_s[OwnPass::norm] = 0.5;
  EXPECT_TRUE(made(config_).has(kShape, ConvPattern::normalized_forward_statistics));
  scripted_.plans[ConvPattern::normalized_weight_gradient][0].seconds = 1.5;
  EXPECT_FALSE(made(config_).has(kShape, ConvPattern::normalized_forward_statistics));
}

TEST_F(ConvolutionsBehindNorms, WhereOneOfThemDoesNotRunNoneIsTaken) {
  scripted_.plans[ConvPattern::normalized_weight_gradient][0].state = PlanState::refused;
  Convolutions convolutions = made(config_);
  EXPECT_FALSE(convolutions.has(kShape, ConvPattern::normalized_forward_statistics));
  EXPECT_THROW(convolutions.forward(kShape, at(1), at(2), at(3), {}, {at(4), at(5)}, stream_), std::logic_error);
}

TEST_F(ConvolutionsBehindNorms, NoneIsAskedForUnfusedOrDeterministicOrElsewhere) {
  for (const ConvolutionsConfig& config : unfused(config_))
    EXPECT_FALSE(made(config).has(kShape, ConvPattern::normalized_forward_statistics));
  EXPECT_FALSE(made().has(kShape, ConvPattern::normalized_forward_statistics));
}

}  // namespace
}  // namespace chexbench::engine::cuda
