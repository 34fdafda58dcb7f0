// Asks cuDNN, without a device, for every plan that the engine would build on an H200.
#include "engine/cuda/convolution/conv_plans.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "core/errors.hpp"
#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/convolution/device_file.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"
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

// Some plans need a driver, because cuDNN compiles or loads them at run time: those with a norm before the convolution,
// and most of the depthwise convolutions.
bool is_there(const Plan& plan, ConvPattern pattern, const ConvShape& shape) {
  if (pattern == ConvPattern::normalized_forward) return plan.state == PlanState::needs_driver;
  return plan.state == PlanState::ready || (shape.groups > 1 && plan.state == PlanState::needs_driver);
}

const std::map<std::string, int> kPlainPlans{
    {"resnet50", 68}, {"densenet121", 197}, {"mobilenet_v2", 89}, {"alexnet", 14}, {"googlenet", 146}};

class EveryPlanTheEngineWants : public testing::TestWithParam<Case> {};

TEST_P(EveryPlanTheEngineWants, ExistsForAnH200) {
  const auto& [network, images, precision] = GetParam();
  const model::Graph graph = model::make_network(network, 224);
  const PlanTarget target = h200();
  const Program program = lower(graph);
  const JoinShapes joins = join_shapes(graph, program, images);
  int planned = 0;
  for (const ConvShape& shape : conv_shapes(graph, program, images)) {
    for (const ConvPattern pattern : conv_patterns()) {
      if (!wanted(pattern, shape, precision) || (is_join(pattern) && !joins.has(pattern, shape))) continue;
      const Plan plan = first_plan({target, {.pattern = pattern, .shape = shape, .precision = precision}});
      EXPECT_TRUE(is_there(plan, pattern, shape))
          << to_string(pattern) << " of " << shape.text() << ": " << plan.reason;
      EXPECT_FALSE(plan.engine.empty());
      ++planned;
    }
  }
  EXPECT_GE(planned, kPlainPlans.at(network));
}

// DenseNet's dense layers, if their outputs are packed: one shape for each of its blocks.
TEST(ConvPlansOfH200, HaveAllThatIsFusedForDenseLayersWithPackedOutputs) {
  const model::Graph graph = model::densenet121(224);
  const Program program = lower(graph);
  const PlanTarget target = h200();
  std::set<ConvShape> shapes;
  for (const int i : dense_convolutions(program))
    shapes.insert(with_packed_output(conv_shape(graph, program, program.nodes[static_cast<std::size_t>(i)], 256)));
  EXPECT_EQ(shapes.size(), 4u);
  int planned = 0;
  for (const ConvShape& shape : shapes) {
    for (const ConvPattern pattern : {ConvPattern::normalized_forward_statistics, ConvPattern::data_gradient_norm,
                                      ConvPattern::normalized_weight_gradient}) {
      EXPECT_TRUE(wanted(pattern, shape, Precision::fp16));
      const Plan plan = first_plan({target, {.pattern = pattern, .shape = shape, .precision = Precision::fp16}});
      EXPECT_EQ(plan.state, PlanState::ready) << to_string(pattern) << " of " << shape.text() << ": " << plan.reason;
      ++planned;
    }
  }
  EXPECT_EQ(planned, 3 * 4);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, EveryPlanTheEngineWants,
    testing::Combine(testing::Values("resnet50", "densenet121", "mobilenet_v2", "alexnet", "googlenet"),
                     testing::Values(64, 256),
                     testing::Values(Precision::f32, Precision::tf32, Precision::fp16, Precision::bf16)),
    case_name);

constexpr ConvShape kShape{.images = 64,
                           .in_channels = 256,
                           .height = 56,
                           .width = 56,
                           .out_channels = 64,
                           .kernel = 1,
                           .in_pixel_stride = 256,
                           .out_pixel_stride = 64};

// Counts the plans that remain; deselected candidates keep their index and are refused.
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

TEST(ConvPlansOfH200, DepthwiseConvolutionsHaveDeterministicPlans) {
  ConvShape shape = kShape;
  shape.out_channels = shape.out_pixel_stride = shape.groups = shape.in_channels;
  shape.kernel = 3;
  shape.padding = 1;
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    for (const ConvPattern pattern : {ConvPattern::forward, ConvPattern::data_gradient, ConvPattern::weight_gradient}) {
      const PlanRequest request{.pattern = pattern, .shape = shape, .precision = precision, .deterministic = true};
      const Plan plan = first_plan({h200(), request});
      EXPECT_TRUE(is_there(plan, pattern, shape)) << request.text() << ": " << plan.reason;
    }
  }
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

// Returns the roles of all inputs and outputs in alphabetical order, as "w x y".
std::string roles(ConvPattern pattern) {
  std::set<std::string> names;
  const ConvPlans plans(h200(), {.pattern = pattern, .shape = kShape, .precision = Precision::fp16});
  for (const Operand& operand : plans.operands()) EXPECT_TRUE(names.insert(to_string(operand.role)).second);
  return fmt::format("{}", fmt::join(names, " "));
}

TEST(ConvPlansOfH200, EachOperandHasARoleOfItsOwn) {
  EXPECT_EQ(roles(ConvPattern::forward), "w x y");
  EXPECT_EQ(roles(ConvPattern::data_gradient), "dx dy w");
  EXPECT_EQ(roles(ConvPattern::weight_gradient), "dw dy x");
  EXPECT_EQ(roles(ConvPattern::forward_statistics), "sum sum_of_squares w x y");
  EXPECT_EQ(roles(ConvPattern::normalized_forward), "bias scale w x y");
  EXPECT_EQ(roles(ConvPattern::normalized_forward_statistics), "bias scale sum sum_of_squares w x y");
  EXPECT_EQ(roles(ConvPattern::data_gradient_norm),
            "bias bias_gradient dx dx_offset dx_per_dy dx_per_x dy inverse_deviation mean scale scale_gradient w x");
  EXPECT_EQ(
      roles(ConvPattern::data_gradient_join),
      "bias bias_gradient dx dx_offset dx_per_dy dx_per_x dy inverse_deviation mean other_gradient residual scale "
      "scale_gradient w x");
  EXPECT_EQ(roles(ConvPattern::data_gradient_join_norms),
            "bias bias_gradient dx dx_offset dx_per_dy dx_per_x dy inverse_deviation mean other_gradient residual_bias "
            "residual_bias_gradient residual_dx_offset residual_dx_per_dy residual_dx_per_x "
            "residual_inverse_deviation residual_mean residual_scale residual_scale_gradient residual_x scale "
            "scale_gradient w x");
  EXPECT_EQ(roles(ConvPattern::normalized_weight_gradient), "bias dw dy scale x");
  EXPECT_EQ(roles(ConvPattern::joined_forward_statistics), "bias joined residual scale sum sum_of_squares w x y");
  EXPECT_EQ(roles(ConvPattern::joined_norms_forward_statistics),
            "bias joined residual_bias residual_scale residual_x scale sum sum_of_squares w x y");
}

TEST(ConvPlansOfH200, OperandsAreAsLargeAsTheirRoleSays) {
  std::map<OperandRole, std::size_t> bytes;
  for (const ConvPattern pattern : conv_patterns()) {
    const ConvPlans plans(h200(), {.pattern = pattern, .shape = kShape, .precision = Precision::fp16});
    for (const Operand& operand : plans.operands()) {
      constexpr std::array kOfTwoTypes{OperandRole::scale, OperandRole::bias, OperandRole::residual_scale,
                                       OperandRole::residual_bias};  // f32 or fp16
      if (std::ranges::count(kOfTwoTypes, operand.role) > 0) continue;
      const auto [known, first] = bytes.emplace(operand.role, operand.bytes);
      EXPECT_EQ(known->second, operand.bytes) << to_string(operand.role) << " of " << to_string(pattern);
    }
  }
  const std::size_t pixels = 64 * 56 * 56;
  for (const OperandRole role : {OperandRole::x, OperandRole::dx, OperandRole::other_gradient, OperandRole::joined,
                                 OperandRole::residual, OperandRole::residual_x})
    EXPECT_EQ(bytes[role], pixels * 256 * 2) << to_string(role);
  EXPECT_EQ(bytes[OperandRole::y], pixels * 64 * 2);
  EXPECT_EQ(bytes[OperandRole::dy], pixels * 64 * 2);
  EXPECT_EQ(bytes[OperandRole::w], 256u * 64 * 2);
  EXPECT_EQ(bytes[OperandRole::dw], 256u * 64 * 2);
  for (const OperandRole role : {OperandRole::sum, OperandRole::sum_of_squares}) EXPECT_EQ(bytes[role], 64u * 4);
  for (const OperandRole role : {OperandRole::mean, OperandRole::inverse_deviation, OperandRole::scale_gradient,
                                 OperandRole::bias_gradient, OperandRole::dx_per_dy, OperandRole::dx_per_x,
                                 OperandRole::dx_offset, OperandRole::residual_mean, OperandRole::residual_dx_offset})
    EXPECT_EQ(bytes[role], 256u * 4) << to_string(role);
}

TEST(ConvPlansOfH200, ACandidateIsFoundAgainByItsEngine) {
  for (const ConvPattern pattern : {ConvPattern::forward, ConvPattern::weight_gradient}) {
    const PlanRequest request{.pattern = pattern, .shape = kShape, .precision = Precision::fp16};
    ConvPlans first(h200(), request), second(h200(), request);
    std::set<std::string> engines;
    for (int i = 0; i < first.candidates(); ++i) {
      const std::string engine = first.build(i).engine;
      EXPECT_EQ(second.engine(i), engine);
      engines.insert(engine);
    }
    EXPECT_GT(engines.size(), 1u);
    EXPECT_EQ(engines.size(), static_cast<std::size_t>(first.candidates()));
  }
}

TEST(PlanTarget, RefusesADescriptionThatIsNone) {
  EXPECT_THROW(PlanTarget::from_description("{}"), DeviceError);
  EXPECT_THROW(PlanTarget::from_description(R"({"deviceVer": 900, "oops": })"), DeviceError);
}

}  // namespace
}  // namespace chexbench::engine::cuda
