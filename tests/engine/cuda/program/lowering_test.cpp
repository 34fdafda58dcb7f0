#include "engine/cuda/program/lowering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::HasSubstr;

int count(const Program& program, NodeKind kind) {
  return static_cast<int>(std::ranges::count(program.nodes, kind, &Node::kind));
}

std::vector<Node> nodes_of(const Program& program, NodeKind kind) {
  std::vector<Node> nodes;
  std::ranges::copy_if(program.nodes, std::back_inserter(nodes), [&](const Node& node) { return node.kind == kind; });
  return nodes;
}

std::string refusal(model::GraphBuilder& net) {
  try {
    lower(net.finish());
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "lowered";
}

TEST(LowerToCuda, Resnet50HasItsLayersAndNoPassOfItsOwnForReluAndAdd) {
  const Program program = lower(model::resnet50(224));
  EXPECT_EQ(count(program, NodeKind::convolution), 53);
  EXPECT_EQ(count(program, NodeKind::normalize), 53);
  EXPECT_EQ(count(program, NodeKind::statistics), 53);
  EXPECT_EQ(program.nodes.size(), 53u * 3 + 2);  // Global average pool, linear.
}

TEST(LowerToCuda, ResidualsAreAddedByTheNormBeforeTheActivation) {
  const Program program = lower(model::resnet50(224));
  int residuals = 0, without_activation = 0;
  for (const Node& node : nodes_of(program, NodeKind::normalize)) {
    residuals += node.residual.exists();
    without_activation += node.activation == Activation::none;
    if (node.residual.exists()) {
      EXPECT_EQ(node.activation, Activation::relu);
      EXPECT_EQ(node.residual.channels, node.out.channels);
      EXPECT_EQ(program.buffer(node.residual), program.buffer(node.out));
    }
  }
  EXPECT_EQ(residuals, 16);
  EXPECT_EQ(without_activation, 4);  // Shortcuts with a convolution that changes the size.
}

TEST(LowerToCuda, MobilenetAddsNormsWithoutAnActivationAndClampsTheOthersAtSix) {
  const Program program = lower(model::mobilenet_v2(224));
  EXPECT_EQ(count(program, NodeKind::convolution), 52);
  EXPECT_EQ(program.nodes.size(), 52u * 3 + 2);  // Global average pool, linear.
  int residuals = 0, bottlenecks = 0;
  for (const Node& node : nodes_of(program, NodeKind::normalize)) {
    residuals += node.residual.exists();
    bottlenecks += node.activation == Activation::none;
    EXPECT_NE(node.activation, Activation::relu);
    if (node.residual.exists()) {
      EXPECT_EQ(node.activation, Activation::none);
    }
  }
  EXPECT_EQ(residuals, 10);
  EXPECT_EQ(bottlenecks, 17);
}

TEST(LowerToCuda, DropoutIsANodeOnlyWhereItIsWanted) {
  const model::Graph graph = model::mobilenet_v2(224);
  EXPECT_EQ(count(lower(graph), NodeKind::dropout), 0);
  const Program program = lower(graph, lowering_options({.name = "mobilenet_v2"}, true));
  const std::vector<Node> dropouts = nodes_of(program, NodeKind::dropout);
  ASSERT_EQ(dropouts.size(), 1u);
  EXPECT_EQ(graph.layers[static_cast<std::size_t>(dropouts[0].layer)].kind, model::LayerKind::dropout);
  EXPECT_EQ(dropouts[0].in, nodes_of(program, NodeKind::global_average_pool)[0].out);
  EXPECT_EQ(dropouts[0].out, nodes_of(program, NodeKind::linear)[0].in);
  EXPECT_NE(dropouts[0].in, dropouts[0].out);
}

TEST(LowerToCuda, EachMapOfADenseBlockIsLookedAtOnceForItsStatistics) {
  const Program program = lower(model::densenet121(224));
  EXPECT_EQ(count(program, NodeKind::convolution), 120);
  EXPECT_EQ(count(program, NodeKind::normalize), 121);
  std::vector<std::vector<int>> looks;
  for (const Buffer& buffer : program.buffers) looks.emplace_back(static_cast<std::size_t>(buffer.channels));
  for (const Node& node : nodes_of(program, NodeKind::statistics)) {
    for (int c = 0; c < node.in.channels; ++c)
      ++looks[static_cast<std::size_t>(node.in.buffer)][static_cast<std::size_t>(node.in.first_channel + c)];
  }
  for (const Node& node : nodes_of(program, NodeKind::normalize)) {
    for (int c = 0; c < node.in.channels; ++c)
      EXPECT_EQ(looks[static_cast<std::size_t>(node.in.buffer)][static_cast<std::size_t>(node.in.first_channel + c)],
                1);
  }
}

TEST(LowerToCuda, DenseLayersWriteTheirChannelsOfTheBlockAndReadAllBefore) {
  const Program program = lower(model::densenet121(224));
  const std::vector<Node> convolutions = nodes_of(program, NodeKind::convolution);
  const std::vector<Node> norms = nodes_of(program, NodeKind::normalize);
  int width = 64;
  for (std::size_t layer = 0; layer < 6; ++layer) {  // Of the first block, after conv0 and norm0.
    const Node& norm1 = norms[1 + 2 * layer];
    const Node& conv2 = convolutions[2 + 2 * layer];
    EXPECT_EQ(norm1.in, (Slice{conv2.out.buffer, 0, width}));
    EXPECT_EQ(conv2.out, (Slice{norm1.in.buffer, width, 32}));
    EXPECT_EQ(program.buffer(conv2.out), (Buffer{256, 56, 56}));
    width += 32;
  }
}

TEST(LowerToCuda, TransitionsPoolBeforeTheyConvolve) {
  const Program program = lower(model::densenet121(224), {.fuses_pools = false});
  int transitions = 0;
  for (std::size_t i = 0; i + 1 < program.nodes.size(); ++i) {
    if (program.nodes[i].kind != NodeKind::average_pool) continue;
    const Node &pool = program.nodes[i], &convolution = program.nodes[i + 1];
    EXPECT_EQ(convolution.kind, NodeKind::convolution);
    EXPECT_EQ(convolution.in, pool.out);
    EXPECT_EQ(program.buffer(pool.in).height, 2 * program.buffer(convolution.in).height);
    EXPECT_EQ(convolution.out.channels, convolution.in.channels / 2);
    ++transitions;
  }
  EXPECT_EQ(transitions, 3);
}

// Returns the nodes of norms that have taken in a pool, checked against the window that reads their activation.
std::vector<Node> pooled_norms(const model::Graph& graph) {
  const Program program = lower(graph);
  std::vector<Node> norms = nodes_of(program, NodeKind::normalize);
  std::erase_if(norms, [](const Node& node) { return !node.pool.exists(); });
  for (const Node& norm : norms) {
    const model::Layer& pool = graph.layers[static_cast<std::size_t>(norm.pool.layer)];
    EXPECT_EQ(pool.kind == model::LayerKind::max_pool, has_winners(norm));
    EXPECT_EQ(norm.activation, Activation::relu);
    EXPECT_EQ(norm.out.channels, norm.in.channels);
    EXPECT_EQ(program.buffer(norm.out).height, pool.height);
    EXPECT_EQ(program.buffer(norm.in).height, 2 * pool.height);
  }
  return norms;
}

TEST(LowerToCuda, NormsTakeInThePoolThatAloneReadsThem) {
  const std::vector<Node> resnet = pooled_norms(model::resnet50(224)), densenet = pooled_norms(model::densenet121(224)),
                          googlenet = pooled_norms(model::googlenet(224));
  ASSERT_EQ(resnet.size(), 1u);
  EXPECT_TRUE(has_winners(resnet[0]));
  ASSERT_EQ(densenet.size(), 4u);  // The first norm, and those of the transitions.
  EXPECT_EQ(std::ranges::count_if(densenet, has_winners), 1);
  EXPECT_EQ(densenet[0].out.channels, 64);  // Of the dense block of 256 that it begins.
  EXPECT_EQ(googlenet.size(), 2u);          // The other pools read concatenations.
  EXPECT_TRUE(pooled_norms(model::mobilenet_v2(224)).empty());
  EXPECT_TRUE(pooled_norms(model::alexnet(224)).empty());
}

TEST(LowerToCuda, PoolsStayApartWhereTheyShouldOrMust) {
  const model::Graph densenet = model::densenet121(224);
  const Program apart = lower(densenet, lowering_options({.name = "densenet121"}, false));
  EXPECT_EQ(count(apart, NodeKind::max_pool), 1);
  EXPECT_EQ(count(apart, NodeKind::average_pool), 3);
  const auto max_pools_after = [](model::GraphBuilder::Window window, bool read_twice) {
    model::GraphBuilder net("tiny", 32);
    const int x = net.relu(net.batch_norm(net.convolution(net.input(), "a", 8, {}), "an"));
    const int pool = net.max_pool(x, window);
    if (read_twice) net.convolution(x, "b", 8, {});
    net.linear(net.global_average_pool(pool), "fc", 14);
    return count(lower(net.finish()), NodeKind::max_pool);
  };
  EXPECT_EQ(max_pools_after({.kernel = 3, .stride = 2, .padding = 1}, false), 0);
  EXPECT_EQ(max_pools_after({.kernel = 3, .stride = 2, .padding = 1}, true), 1);
  EXPECT_EQ(max_pools_after({.kernel = 3, .stride = 1, .padding = 1}, false), 1);
  EXPECT_EQ(max_pools_after({.kernel = 2, .stride = 2}, false), 1);
}

TEST(LowerToCuda, ImagesAndLogitsArePaddedToWholeVectors) {
  const Program program = lower(model::resnet50(224));
  EXPECT_EQ(program.buffer(program.input), (Buffer{4, 224, 224}));
  EXPECT_EQ(program.logits.channels, 16);
}

TEST(LowerToCuda, FrozenNormsNeedNoStatistics) {
  const Program program = lower(model::densenet121(64), {.frozen = true});
  EXPECT_EQ(count(program, NodeKind::statistics), 0);
  EXPECT_EQ(count(program, NodeKind::normalize), 121);
}

TEST(LowerToCuda, NodesReadOnlyWhatIsWrittenBefore) {
  for (const std::string name : {"resnet50", "densenet121", "mobilenet_v2", "alexnet", "googlenet"}) {
    const Program program = lower(model::make_network(name, 64), {.dropout = true});
    std::vector<std::vector<bool>> written;
    for (const Buffer& buffer : program.buffers) written.emplace_back(static_cast<std::size_t>(buffer.channels));
    const auto each = [&](const Slice& slice, auto&& visit) {
      for (int c = 0; slice.exists() && c < slice.channels; ++c)
        visit(written[static_cast<std::size_t>(slice.buffer)], static_cast<std::size_t>(slice.first_channel + c));
    };
    const auto write = [](std::vector<bool>& channels, std::size_t c) { channels[c] = true; };
    const auto read = [](const std::vector<bool>& channels, std::size_t c) { EXPECT_TRUE(channels[c]); };
    each(program.input, write);
    for (const Node& node : program.nodes) {
      each(node.in, read);
      each(node.residual, read);
      each(node.out, write);
    }
    each(program.logits, read);
  }
}

TEST(LowerToCuda, AlexnetHasAPassForEachBiasButThatOfTheLoss) {
  const Program program = lower(model::alexnet(224));
  const std::vector<Node> biases = nodes_of(program, NodeKind::bias);
  EXPECT_EQ(count(program, NodeKind::convolution), 5);
  EXPECT_EQ(count(program, NodeKind::linear), 3);
  EXPECT_EQ(biases.size(), 7u);
  EXPECT_EQ(program.nodes.size(), 5u + 3 + 7 + 3);  // Three max pools; 6x6 pixels need no other.
  for (const Node& bias : biases) {
    EXPECT_EQ(bias.activation, Activation::relu);
    EXPECT_NE(bias.in.buffer, bias.out.buffer);
  }
}

TEST(LowerToCuda, LinearLayersReadMapsAsTheyAre) {
  const Program program = lower(model::alexnet(224), {.dropout = true});
  const Node linear = nodes_of(program, NodeKind::linear)[0], dropout = nodes_of(program, NodeKind::dropout)[0];
  EXPECT_EQ(program.buffer(linear.in), (Buffer{256, 6, 6}));
  EXPECT_EQ(linear.in, dropout.out);
  EXPECT_EQ(dropout.in, nodes_of(program, NodeKind::max_pool)[2].out);
  const Program small = lower(model::alexnet(64));
  EXPECT_EQ(nodes_of(small, NodeKind::linear)[0].in, nodes_of(small, NodeKind::adaptive_average_pool).at(0).out);
}

TEST(LowerToCuda, BranchesOfAnInceptionWriteTheirChannelsOfItsOutput) {
  const Program program = lower(model::googlenet(224));
  EXPECT_EQ(count(program, NodeKind::convolution), 57);
  EXPECT_EQ(program.nodes.size(), 57u * 3 + 11 + 2);  // Max pools, global average pool, linear.
  std::vector<int> begins;
  for (const Node& norm : nodes_of(program, NodeKind::normalize)) {
    if (program.buffer(norm.out) == Buffer{256, 28, 28}) begins.push_back(norm.out.first_channel);
  }
  EXPECT_THAT(begins, testing::ElementsAre(0, 64, 192, 224));
}

TEST(LowerToCuda, NamesTheLayerThatItCannotCompute) {
  model::GraphBuilder grouped("tiny", 32);
  grouped.convolution(grouped.input(), "conv", 4, {}, 3);
  EXPECT_THAT(refusal(grouped),
              testing::AllOf(HasSubstr("layer 1 ('conv') of tiny"), HasSubstr("groups of more than one channel")));

  model::GraphBuilder dropped("tiny", 32);
  dropped.dropout(dropped.convolution(dropped.input(), "conv", 8, {}), 0.5);
  EXPECT_THAT(refusal(dropped), HasSubstr("dropout of feature maps"));

  model::GraphBuilder narrow("tiny", 32);
  narrow.linear(narrow.relu(narrow.linear(narrow.global_average_pool(narrow.input()), "hidden", 12)), "fc", 8);
  EXPECT_THAT(refusal(narrow), testing::AllOf(HasSubstr("('hidden') of tiny"), HasSubstr("no multiple of 8")));

  model::GraphBuilder active("tiny", 32);
  active.relu(active.convolution(active.input(), "conv", 8, {}));
  EXPECT_THAT(refusal(active), HasSubstr("an activation must follow a batch norm, an add or a bias"));

  model::GraphBuilder pooled("tiny", 32);
  pooled.adaptive_average_pool(pooled.input(), 6);
  EXPECT_THAT(refusal(pooled), HasSubstr("an adaptive average pool that is not flattened"));

  model::GraphBuilder flat("tiny", 32);
  const int part = flat.convolution(flat.input(), "part", 8, {});
  flat.concat({part, flat.convolution(flat.input(), "rest", 8, {})});
  flat.flatten(part);
  EXPECT_THAT(refusal(flat), HasSubstr("it flattens a part of a concatenation"));

  model::GraphBuilder bare("tiny", 32);
  bare.add(bare.convolution(bare.input(), "a", 8, {}), bare.convolution(bare.input(), "b", 8, {}));
  EXPECT_THAT(refusal(bare), HasSubstr("an add without a batch norm before it"));

  model::GraphBuilder shared("tiny", 32);
  const int a = shared.convolution(shared.input(), "a", 8, {}), b = shared.convolution(shared.input(), "b", 8, {});
  shared.concat({a, b});
  shared.concat({b, a});
  EXPECT_THAT(refusal(shared), HasSubstr("two concatenations"));
}

}  // namespace
}  // namespace chexbench::engine::cuda
