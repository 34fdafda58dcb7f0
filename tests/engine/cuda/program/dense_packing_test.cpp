#include "engine/cuda/program/dense_packing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/param_name.hpp"
#include "engine/cuda/convolution/conv_shape.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "engine/cuda/program/prologue.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

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
