#include "engine/cuda/program/residual_join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

struct Count {
  int joins = 0, of_norms = 0;
};

Count count(const std::vector<ResidualJoin>& joins) {
  Count count;
  for (const ResidualJoin& join : joins) {
    count.joins += join.norm >= 0;
    count.of_norms += join.residual_norm >= 0;
  }
  return count;
}

class ResNetJoins : public testing::Test {
 protected:
  const Node& node(int i) const { return program_.nodes[static_cast<std::size_t>(i)]; }
  const std::string& name(int i) const { return graph_.layers[static_cast<std::size_t>(node(i).layer)].name; }

  const model::Graph graph_ = model::resnet50(224);
  const Program program_ = lower(graph_);
  const std::vector<ResidualJoin> joins_ = residual_joins(program_);
};

// Every block but the last is followed by the first convolution of the next one, which comes last in backward: after
// the add of the same block, or after the parallel strided convolution. The first block of each of the four stages adds
// a norm's result.
TEST_F(ResNetJoins, AreAllThatTwoNodesRead) {
  EXPECT_EQ(count(joins_).joins, 15);
  EXPECT_EQ(count(joins_).of_norms, 4);
}

TEST_F(ResNetJoins, AreComputedByTheFirstConvolutionsOfBlocks) {
  for (std::size_t i = 0; i < joins_.size(); ++i) {
    if (joins_[i].norm < 0) continue;
    EXPECT_TRUE(name(static_cast<int>(i)).ends_with(".conv1")) << name(static_cast<int>(i));
    EXPECT_TRUE(name(joins_[i].norm).ends_with(".bn3")) << name(joins_[i].norm);
    EXPECT_EQ(node(static_cast<int>(i)).in, node(joins_[i].norm).out);
    if (joins_[i].residual_norm < 0) continue;
    EXPECT_TRUE(name(joins_[i].residual_norm).ends_with(".0.downsample.1")) << name(joins_[i].residual_norm);
    EXPECT_EQ(node(joins_[i].residual_norm).out, node(joins_[i].norm).residual);
  }
}

// A join writes where its norm would have written, and the norm reads the gradient from there.
TEST_F(ResNetJoins, TakeOverWhatTheirNormsWrite) {
  const std::vector<BackwardStep> before = backward_order(program_), after = backward_order(program_, joins_);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].node, before[i].node);
    if (after[i].join.norm < 0) {
      EXPECT_EQ(after[i].in, before[i].in);
      EXPECT_EQ(after[i].residual, before[i].residual);
      continue;
    }
    EXPECT_EQ(after[i].in, Target::none);
    EXPECT_EQ(before[i].in, Target::second);
    EXPECT_EQ(after[i + 1].node, after[i].join.norm);
    EXPECT_EQ(after[i].residual, before[i + 1].residual);
    EXPECT_TRUE(after[i + 1].joined);
    EXPECT_TRUE(before[i + 1].two);
    EXPECT_FALSE(after[i + 1].two);
    if (after[i].join.residual_norm >= 0) {
      EXPECT_EQ(after[i + 2].node, after[i].join.residual_norm);
    }
  }
  EXPECT_EQ(std::ranges::count(after, true, &BackwardStep::joined), 15 + 4);
}

TEST_F(ResNetJoins, OfWhichNoneIsChosenLeaveTheOrderAsItIs) {
  const std::vector<BackwardStep> steps = backward_order(program_, std::vector<ResidualJoin>(program_.nodes.size()));
  EXPECT_EQ(std::ranges::count(steps, true, &BackwardStep::joined), 0);
  EXPECT_EQ(std::ranges::count(steps, true, &BackwardStep::two), 16);
}

// DenseNet, AlexNet and GoogLeNet add nothing, and MobileNet has no ReLU after its adds.
TEST(ResidualJoins, OtherNetworksHaveNone) {
  for (const char* network : {"densenet121", "mobilenet_v2", "alexnet", "googlenet"})
    EXPECT_EQ(count(residual_joins(lower(model::make_network(network, 224)))).joins, 0) << network;
}

// input -> convolution -> norm (+ residual) -> convolution and another reader, with a backward in which the
// convolution comes last.
Program small_join() {
  Program program;
  const auto map = [&](int channels) -> Slice {
    program.buffers.push_back({.channels = channels, .height = 4, .width = 4});
    return {static_cast<int>(program.buffers.size()) - 1, 0, channels};
  };
  program.input = map(4);
  const Slice residual = map(8), x = map(8), y = map(8), product = map(8), pooled = map(8), logits = map(8);
  program.logits = logits;
  program.nodes = {{.kind = NodeKind::convolution, .layer = 1, .in = program.input, .out = residual},
                   {.kind = NodeKind::convolution, .layer = 2, .in = program.input, .out = x},
                   {.kind = NodeKind::statistics, .layer = 2, .in = x},
                   {.kind = NodeKind::normalize,
                    .layer = 3,
                    .in = x,
                    .out = y,
                    .residual = residual,
                    .activation = Activation::relu},
                   {.kind = NodeKind::convolution, .layer = 4, .in = y, .out = product},
                   {.kind = NodeKind::statistics, .layer = 4, .in = product},
                   {.kind = NodeKind::normalize, .layer = 5, .in = product, .out = pooled, .residual = y},
                   {.kind = NodeKind::linear, .layer = 6, .in = pooled, .out = logits}};
  return program;
}

TEST(ResidualJoins, NeedAReluAWholeBufferAndTheConvolutionLast) {
  EXPECT_EQ(residual_joins(small_join())[4], (ResidualJoin{.norm = 3}));
  Program program = small_join();
  program.nodes[3].activation = Activation::relu6;
  EXPECT_EQ(count(residual_joins(program)).joins, 0);
  program = small_join();
  program.nodes[4].out.channels = 4;
  EXPECT_EQ(count(residual_joins(program)).joins, 0);
  program = small_join();
  program.nodes[6].residual = {};  // so the convolution is the only reader
  EXPECT_EQ(count(residual_joins(program)).joins, 0);
  program = small_join();
  program.nodes[4].kind = NodeKind::max_pool;
  EXPECT_EQ(count(residual_joins(program)).joins, 0);
}

}  // namespace
}  // namespace chexbench::engine::cuda
