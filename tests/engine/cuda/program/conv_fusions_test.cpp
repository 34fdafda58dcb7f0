#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/param_name.hpp"
#include "engine/cuda/convolution/conv_shape.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
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

constexpr int kDenseLayers = 58;

bool always(const Node&) { return true; }

bool same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.layer == b.layer && a.in == b.in && a.out == b.out && a.residual == b.residual &&
         a.activation == b.activation;
}

void expect_same(const Program& a, const Program& b) {
  EXPECT_EQ(a.buffers, b.buffers);
  EXPECT_EQ(a.input, b.input);
  EXPECT_EQ(a.logits, b.logits);
  EXPECT_TRUE(std::ranges::equal(a.nodes, b.nodes, same));
}

class DensePacking : public testing::Test {
 protected:
  const model::Graph graph_ = model::densenet121(224);
  const Program program_ = lower(graph_);
  const Program packed_ = with_packed_outputs(program_, always);
};

TEST_F(DensePacking, OfDensenetFindsTheSecondConvolutionOfEachLayer) {
  const std::vector<int> convolutions = dense_convolutions(program_);
  ASSERT_EQ(convolutions.size(), static_cast<std::size_t>(kDenseLayers));
  for (const int i : convolutions) {
    const Node& conv = program_.nodes[static_cast<std::size_t>(i)];
    EXPECT_EQ(graph_.layers[static_cast<std::size_t>(conv.layer)].kernel, 3);
    EXPECT_EQ(conv.out.channels, 32);
    EXPECT_LT(conv.out.channels, program_.buffer(conv.out).channels);
  }
}

TEST_F(DensePacking, PutsACopyBetweenTheConvolutionAndItsStatistics) {
  int copies = 0;
  for (std::size_t i = 0; i < packed_.nodes.size(); ++i) {
    const Node& copy = packed_.nodes[i];
    if (copy.kind != NodeKind::copy) continue;
    ++copies;
    const Node &conv = packed_.nodes[i - 1], &statistics = packed_.nodes[i + 1];
    EXPECT_EQ(conv.kind, NodeKind::convolution);
    EXPECT_EQ(conv.layer, copy.layer);
    EXPECT_EQ(conv.out, copy.in);
    EXPECT_EQ(packed_.buffer(copy.in), (Buffer{32, packed_.buffer(copy.out).height, packed_.buffer(copy.out).width}));
    EXPECT_EQ(statistics.kind, NodeKind::statistics);
    EXPECT_EQ(statistics.in, copy.out);
  }
  EXPECT_EQ(copies, kDenseLayers);
}

TEST_F(DensePacking, ChangesNothingElse) {
  Program unpacked = packed_;
  unpacked.buffers.resize(program_.buffers.size());
  for (std::size_t i = 0; i + 1 < unpacked.nodes.size(); ++i) {
    if (unpacked.nodes[i + 1].kind == NodeKind::copy) unpacked.nodes[i].out = unpacked.nodes[i + 1].out;
  }
  std::erase_if(unpacked.nodes, [](const Node& node) { return node.kind == NodeKind::copy; });
  expect_same(unpacked, program_);
}

TEST_F(DensePacking, LetsEachOfThemComputeTheNormBeforeIt) {
  const auto norms = [](const Program& program) {
    const std::vector<int> before = prologue_norms(program);
    return std::ranges::count_if(before, [](int norm) { return norm >= 0; });
  };
  EXPECT_EQ(norms(program_), 0);
  EXPECT_EQ(norms(packed_), kDenseLayers);
}

TEST_F(DensePacking, OfSomeLeavesTheOthersAsTheyAre) {
  const auto in_large_maps = [&](const Node& conv) { return program_.buffer(conv.out).height == 56; };
  const Program some = with_packed_outputs(program_, in_large_maps);
  EXPECT_EQ(std::ranges::count(some.nodes, NodeKind::copy, &Node::kind), 6);
  expect_same(with_packed_outputs(program_, [](const Node&) { return false; }), program_);
}

TEST_F(DensePacking, IsNotForFrozenNorms) {
  const Program frozen = lower(graph_, {.frozen = true});
  EXPECT_TRUE(dense_convolutions(frozen).empty());
}

TEST_F(DensePacking, AddsFourShapes) {
  std::set<ConvShape> packed;
  for (const int i : dense_convolutions(program_))
    packed.insert(with_packed_output(conv_shape(graph_, program_, program_.nodes[static_cast<std::size_t>(i)], 256)));
  EXPECT_EQ(packed.size(), 4u);
  for (const ConvShape& shape : packed) {
    EXPECT_TRUE(shape.packed()) << shape.text();
    const std::vector<ConvShape> shapes = conv_shapes(graph_, packed_, 256);
    EXPECT_EQ(std::ranges::count(shapes, shape), 1) << shape.text();
  }
}

// Counts the passes over feature maps that fused plans replace, in bytes an image in fp16. Forward: the norm's pass
// reads and writes the convolution's inputs, and the statistics read its outputs. Backward: the sums of the norm read
// its input and its output's gradient; the fused data gradient still reads the input.
TEST_F(DensePacking, Saves24MegabytesAnImage) {
  double saved_bytes = 0;
  const std::vector<int> norms = prologue_norms(packed_);
  for (std::size_t i = 0; i < packed_.nodes.size(); ++i) {
    if (packed_.nodes[i].kind != NodeKind::copy) continue;
    ASSERT_GE(norms[i - 1], 0);
    const int inputs = packed_.nodes[i - 1].in.channels, outputs = packed_.nodes[i].in.channels;
    const int forward = 2 * inputs + outputs - 2 * outputs, backward = 2 * inputs - inputs;
    saved_bytes += 2.0 * packed_.buffer(packed_.nodes[i].in).pixels() * (forward + backward);
  }
  EXPECT_NEAR(saved_bytes, 23.7e6, 0.05e6);
}

class NetworksWithoutDenseBlocks : public testing::TestWithParam<const char*> {};

TEST_P(NetworksWithoutDenseBlocks, StayAsTheyAre) {
  const Program program = lower(model::make_network(GetParam(), 224), {.dropout = true});
  expect_same(with_packed_outputs(program, always), program);
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworksWithoutDenseBlocks,
                         testing::Values("resnet50", "mobilenet_v2", "alexnet", "googlenet"), ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
