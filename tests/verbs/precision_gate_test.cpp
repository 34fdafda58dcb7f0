#include "verbs/selftest/precision_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/errors.hpp"
#include "engine/onednn/onednn_engine.hpp"
#include "verbs/selftest/comparison.hpp"

namespace chexbench::verbs {
namespace {

using spec::Precision;
using testing::AllOf;
using testing::HasSubstr;

Learned learned(double off = 0) {
  const auto moved = [off](float value) { return static_cast<float>(value * (1 + off)); };
  return {.device = "a device",
          .names = {"conv1.weight", "conv1.bias", "layer1.weight", "layer2.weight", "fc.weight"},
          .gradients = {{moved(1), 2}, {1e-9f, 1e-9f}, {moved(3), 4}, {moved(4), 3}, {moved(5), 6}},
          .losses = {0.7, 0.6, 0.5}};
}

bool holds(const Trainings& trainings, std::string& text) { return compare_trainings(trainings, text); }

TEST(PrecisionComparison, WhatRoundingExplainsHolds) {
  std::string text;
  EXPECT_TRUE(holds({learned(), learned(0.1), learned(-0.1)}, text)) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("gradients, fused"), HasSubstr("judged: 4 of 5 parameters")));
}

TEST(PrecisionComparison, AFusedGradientThatIsFarOffFailsAndIsNamed) {
  Learned wrong = learned(0.1);
  wrong.gradients[2] = {-3, 4};
  std::string text;
  EXPECT_FALSE(holds({learned(), learned(0.1), wrong}, text));
  EXPECT_THAT(text, HasSubstr("layer1.weight"));
}

TEST(PrecisionComparison, FusedGradientsThatAreAllALittleFartherFail) {
  std::string text;
  EXPECT_TRUE(holds({learned(), learned(0.02), learned(0.05)}, text)) << text;
  EXPECT_FALSE(holds({learned(), learned(0.02), learned(0.12)}, text)) << text;
}

TEST(PrecisionComparison, SeparateGradientsThatAreMostlyFarFail) {
  Learned apart = learned(0.1);
  for (const std::size_t i : {2, 3, 4}) apart.gradients[i] = {-apart.gradients[i][1], apart.gradients[i][0]};
  std::string text;
  EXPECT_FALSE(holds({learned(), apart, apart}, text)) << text;
}

TEST(PrecisionComparison, WhatRoundingAloneMovesFarIsNotJudged) {
  Learned apart = learned(0.1), fused = learned(0.1);
  apart.gradients[2] = {3, -4};
  fused.gradients[2] = {-3, 4};
  std::string text;
  EXPECT_TRUE(holds({learned(), apart, fused}, text)) << text;
  EXPECT_THAT(text, HasSubstr("judged: 3 of 5 parameters"));
}

TEST(PrecisionComparison, WhereNothingCanBeJudgedNothingHolds) {
  Learned random = learned();
  for (auto& gradient : random.gradients) gradient = {-gradient[1], gradient[0]};
  std::string text;
  EXPECT_FALSE(holds({learned(), random, random}, text));
}

TEST(PrecisionComparison, ATrainingThatDoesNotLearnFails) {
  Learned stuck = learned(0.1);
  stuck.losses = {0.7, 0.7, 0.7};
  std::string text;
  EXPECT_FALSE(holds({stuck, stuck, stuck}, text));
}

TEST(PrecisionComparison, LossesThatGoAnotherWayFail) {
  Learned wrong = learned(0.1);
  wrong.losses[2] = 0.53;
  std::string text;
  EXPECT_FALSE(holds({learned(), learned(0.1), wrong}, text));
  EXPECT_THAT(text, HasSubstr("step 3"));
}

TEST(PrecisionComparison, WhatIsNotFiniteFails) {
  Learned wrong = learned(0.1);
  wrong.gradients[4][0] = std::numeric_limits<float>::quiet_NaN();
  std::string text;
  EXPECT_FALSE(holds({learned(), learned(0.1), wrong}, text));
}

TEST(PrecisionComparison, ABiasWhoseGradientIsZeroButForRoundingIsNotJudged) {
  Learned rounded = learned(0.1);
  rounded.gradients[1] = {1e-5f, -1e-5f};
  std::string text;
  EXPECT_TRUE(holds({learned(), rounded, rounded}, text)) << text;
}

PrecisionGate small_gate(Precision precision) {
  return {.engine = "onednn", .precision = precision, .models = {"mobilenet_v2"}, .batch_size = 4, .image_size = 32};
}

TEST(PrecisionGateOf, F32IsWhatOthersAreComparedWith) {
  EXPECT_THROW(precision_gate(small_gate(Precision::f32)), SpecError);
}

TEST(PrecisionGateOf, AnEngineThatTrainsNothingIsRefused) {
  PrecisionGate gate = small_gate(Precision::fp16);
  gate.engine = "none";
  EXPECT_THROW(precision_gate(gate), SpecError);
}

TEST(PrecisionGateOf, AnUnknownNetworkIsRefused) {
  if (!engine::onednn::has_onednn()) GTEST_SKIP() << "this build has no oneDNN";
  PrecisionGate gate = small_gate(Precision::bf16);
  gate.models = {"resnet5"};
  EXPECT_THROW(precision_gate(gate), SpecError);
}

}  // namespace
}  // namespace chexbench::verbs
