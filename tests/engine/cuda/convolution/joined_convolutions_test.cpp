// Convolutions that compute the residual join before them.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "engine/cuda/convolution/convolutions_fixture.hpp"

namespace chexbench::engine::cuda {
namespace {

class ConvolutionsBehindJoins : public ConvolutionsTest {
 protected:
  ConvolutionsBehindJoins() {
    scripted_.plans[ConvPattern::data_gradient_join] = {{.engine = "join"}};
    scripted_.plans[ConvPattern::data_gradient_join_norms] = {{.engine = "join of norms"}};
    // A row for each operand of a norm.
    for (NormBefore* norm : {&join_.norm, &join_.residual_norm}) {
      float* const row = norm == &join_.norm ? rows_ : rows_ + 9;
      *norm = {.x = row,
               .mean = row + 1,
               .inverse_deviation = row + 2,
               .weight = row + 3,
               .bias = row + 4,
               .weight_gradient = row + 5,
               .bias_gradient = row + 6,
               .b = row + 7,
               .c = row + 8,
               .scratch = norm == &join_.norm ? &scratch_ : &other_scratch_};
    }
    join_.other_gradient = at(4);
  }
  Memory expected(bool of_norms) {
    Memory memory{{OperandRole::dy, at(1)},
                  {OperandRole::w, at(2)},
                  {OperandRole::dx, at(3)},
                  {OperandRole::other_gradient, at(4)}};
    add(kNormRoles, rows_, &scratch_, memory);
    if (of_norms) {
      add(kResidualNormRoles, rows_ + 9, &other_scratch_, memory);
    } else {
      memory[OperandRole::residual] = at(5);
    }
    return memory;
  }
  static void add(const NormRoles& roles, float* rows, float* scratch, Memory& memory) {
    memory.insert({{roles.x, rows},
                   {roles.mean, rows + 1},
                   {roles.inverse_deviation, rows + 2},
                   {roles.scale, rows + 3},
                   {roles.bias, rows + 4},
                   {roles.results[0], rows + 5},
                   {roles.results[1], rows + 6},
                   {roles.results[2], scratch},
                   {roles.results[3], rows + 7},
                   {roles.results[4], rows + 8}});
  }

  float rows_[18] = {}, scratch_ = 0, other_scratch_ = 0;
  JoinBefore join_;
  const ConvolutionsConfig config_{.precision = spec::Precision::fp16,
                                   .behind_joins = {.all = {kShape}, .of_norms = {kShape}}};
};

TEST_F(ConvolutionsBehindJoins, AllOfTheJoinIsHandedOver) {
  Convolutions convolutions = made(config_);
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::data_gradient_join));
  join_.residual = at(5);
  convolutions.data_gradient_join(kShape, at(1), at(2), at(3), join_, stream_);
  EXPECT_EQ(scripted_.runs.at(0).engine, "join");
  EXPECT_EQ(scripted_.runs.at(0).memory, expected(false));
}

TEST_F(ConvolutionsBehindJoins, AllOfTheJoinOfTwoNormsIsHandedOver) {
  Convolutions convolutions = made(config_);
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::data_gradient_join_norms));
  convolutions.data_gradient_join(kShape, at(1), at(2), at(3), join_, stream_);
  EXPECT_EQ(scripted_.runs.at(0).engine, "join of norms");
  EXPECT_EQ(scripted_.runs.at(0).memory, expected(true));
}

TEST_F(ConvolutionsBehindJoins, NoneIsAskedForUnfusedOrDeterministicOrInBf16OrElsewhere) {
  std::vector<ConvolutionsConfig> configs{{.precision = spec::Precision::fp16}, config_};
  configs.back().precision = spec::Precision::bf16;
  std::ranges::copy(unfused(config_), std::back_inserter(configs));
  for (const ConvolutionsConfig& config : configs) {
    Convolutions convolutions = made(config);
    EXPECT_FALSE(convolutions.has(kShape, ConvPattern::data_gradient_join));
    EXPECT_FALSE(convolutions.has(kShape, ConvPattern::data_gradient_join_norms));
    EXPECT_THROW(convolutions.data_gradient_join(kShape, at(1), at(2), at(3), join_, stream_), std::logic_error);
  }
}

TEST_F(ConvolutionsBehindJoins, ForwardComputesAJoinToo) {
  scripted_.own_pass_s[OwnPass::join] = 3;
  scripted_.plans[ConvPattern::joined_forward_statistics] = {{.engine = "joined", .statistics_s = 0}};
  scripted_.plans[ConvPattern::joined_norms_forward_statistics] = {{.engine = "joined norms", .statistics_s = 0}};
  Convolutions convolutions = made(config_);
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::joined_forward_statistics));
  ASSERT_TRUE(convolutions.has(kShape, ConvPattern::joined_norms_forward_statistics));
  float sum = 0, squares = 0;
  JoinPrologue join{.x = at(1), .norm = {at(2), at(3)}, .residual = at(4), .joined = at(5)};
  convolutions.joined_forward(kShape, join, at(6), at(7), {&sum, &squares}, stream_);
  join.residual = nullptr;
  join.residual_x = at(8);
  join.residual_norm = {at(9), at(10)};
  convolutions.joined_forward(kShape, join, at(6), at(7), {&sum, &squares}, stream_);
  Memory expected{
      {OperandRole::x, at(1)},        {OperandRole::scale, at(2)},  {OperandRole::bias, at(3)},
      {OperandRole::residual, at(4)}, {OperandRole::joined, at(5)}, {OperandRole::w, at(6)},
      {OperandRole::y, at(7)},        {OperandRole::sum, &sum},     {OperandRole::sum_of_squares, &squares}};
  EXPECT_EQ(scripted_.runs.at(0).engine, "joined");
  EXPECT_EQ(scripted_.runs.at(0).memory, expected);
  expected.erase(OperandRole::residual);
  expected.insert(
      {{OperandRole::residual_x, at(8)}, {OperandRole::residual_scale, at(9)}, {OperandRole::residual_bias, at(10)}});
  EXPECT_EQ(scripted_.runs.at(1).engine, "joined norms");
  EXPECT_EQ(scripted_.runs.at(1).memory, expected);
  Convolutions elsewhere = made();
  EXPECT_FALSE(elsewhere.has(kShape, ConvPattern::joined_forward_statistics));
  EXPECT_THROW(elsewhere.joined_forward(kShape, join, at(6), at(7), {&sum, &squares}, stream_), std::logic_error);
}

TEST_F(ConvolutionsBehindJoins, TheirWorkspaceCounts) {
  scripted_.plans[ConvPattern::data_gradient_join_norms][0].workspace_bytes = 1000;
  EXPECT_EQ(made(config_).workspace_bytes(), 1000u);
}

}  // namespace
}  // namespace chexbench::engine::cuda
