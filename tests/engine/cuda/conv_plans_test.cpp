// Asks cuDNN, without a device, for every plan that the engine would make on an H200.
#include "engine/cuda/conv_plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "core/errors.hpp"
#include "engine/cuda/device_file.hpp"
#include "engine/cuda/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;
using testing::HasSubstr;

PlanTarget h200() { return described_device("h200"); }

using Case = std::tuple<std::string, int, Precision>;

std::string case_name(const testing::TestParamInfo<Case>& info) {
  const auto& [network, images, precision] = info.param;
  return network + "_" + std::to_string(images) + "_" + spec::to_string(precision);
}

class EveryPlanTheEngineWants : public testing::TestWithParam<Case> {};

TEST_P(EveryPlanTheEngineWants, ExistsForAnH200) {
  const auto& [network, images, precision] = GetParam();
  const model::Graph graph = model::make_network(network, 224);
  const PlanTarget target = h200();
  int planned = 0;
  for (const ConvShape& shape : conv_shapes(graph, lower(graph), images)) {
    for (const ConvPattern pattern : conv_patterns()) {
      if (!wanted(pattern, shape, precision)) continue;
      const Plan plan = first_plan({target, {.pattern = pattern, .shape = shape, .precision = precision}});
      // Patterns that cuDNN compiles at run time get as far as a driver that could load them.
      const PlanState expected =
          pattern == ConvPattern::normalized_forward ? PlanState::needs_driver : PlanState::ready;
      EXPECT_EQ(plan.state, expected) << to_string(pattern) << " of " << shape.text() << ": " << plan.reason;
      EXPECT_FALSE(plan.engine.empty());
      ++planned;
    }
  }
  EXPECT_GE(planned, network == "resnet50" ? 68 : 197);
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryPlanTheEngineWants,
                         testing::Combine(testing::Values("resnet50", "densenet121"), testing::Values(64, 256),
                                          testing::Values(Precision::f32, Precision::tf32, Precision::fp16,
                                                          Precision::bf16)),
                         case_name);

constexpr ConvShape kShape{.images = 64,
                           .in_channels = 256,
                           .height = 56,
                           .width = 56,
                           .out_channels = 64,
                           .kernel = 1,
                           .in_pixel_stride = 256,
                           .out_pixel_stride = 64};

// Those that are left: deselected candidates keep their index and are refused.
int ready_plans(const PlanRequest& request) {
  ConvPlans plans(h200(), request);
  int ready = 0;
  for (int i = 0; i < plans.candidates(); ++i) ready += plans.build(i).state == PlanState::ready;
  return ready;
}

TEST(ConvPlansOfH200, StrictF32LeavesThePlansWithTensorCoresOut) {
  const int strict = ready_plans({.shape = kShape, .precision = Precision::f32});
  EXPECT_GT(strict, 0);
  EXPECT_GT(ready_plans({.shape = kShape, .precision = Precision::tf32}), strict);
}

TEST(ConvPlansOfH200, DeterministicLeavesPlansOut) {
  PlanRequest request{.pattern = ConvPattern::weight_gradient, .shape = kShape, .precision = Precision::fp16};
  const int all = ready_plans(request);
  request.deterministic = true;
  const int deterministic = ready_plans(request);
  EXPECT_GT(deterministic, 0);
  EXPECT_LT(deterministic, all);
}

TEST(ConvPlansOfH200, ALimitOnWorkspaceLeavesPlansOut) {
  PlanRequest request{.pattern = ConvPattern::weight_gradient, .shape = kShape, .precision = Precision::fp16};
  request.workspace_limit_bytes = 0;
  ConvPlans plans(h200(), request);
  for (int i = 0; i < plans.candidates(); ++i) {
    const Plan plan = plans.build(i);
    EXPECT_FALSE(plan.state == PlanState::ready && plan.workspace_bytes > 0) << plan.engine;
  }
}

TEST(ConvPlansOfH200, WhatCudnnLacksIsAnErrorThatNamesPatternShapeAndPrecision) {
  try {
    ConvPlans(h200(), {.pattern = ConvPattern::forward_statistics, .shape = kShape, .precision = Precision::bf16});
    ADD_FAILURE() << "planned";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("forward_statistics of n64 256x56x56 -> 64 k1 s1 in bf16"));
  }
}

TEST(PlanTarget, RefusesADescriptionThatIsNone) {
  EXPECT_THROW(PlanTarget::from_description("{}"), DeviceError);
  EXPECT_THROW(PlanTarget::from_description(R"({"deviceVer": 900, "oops": })"), DeviceError);
}

}  // namespace
}  // namespace chexbench::engine::cuda
