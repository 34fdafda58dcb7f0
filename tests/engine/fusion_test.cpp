#include "engine/fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/networks.hpp"

namespace chexbench::engine {
namespace {

using model::Graph;
using model::Layer;
using model::LayerKind;
using testing::ElementsAre;

Layer layer(LayerKind kind, std::vector<int> inputs, int channels = 8) {
  Layer made;
  made.kind = kind;
  made.inputs = std::move(inputs);
  made.channels = channels;
  return made;
}

// A residual block: norm 2 and shortcut 0 meet in add 3, which relu 4 follows.
Graph residual_block() {
  Graph graph;
  graph.layers = {layer(LayerKind::input, {}), layer(LayerKind::convolution, {0}), layer(LayerKind::batch_norm, {1}),
                  layer(LayerKind::add, {0, 2}), layer(LayerKind::relu, {3})};
  return graph;
}

TEST(Fusion, FindsTheReadersOfALayer) {
  const Graph graph = residual_block();
  const Fusion fusion(graph);
  EXPECT_THAT(fusion.readers(0), ElementsAre(1, 3));
  EXPECT_EQ(fusion.sole_reader(0), -1);
  EXPECT_EQ(fusion.sole_reader(1), 2);
  EXPECT_EQ(fusion.sole_reader(4), -1);
}

TEST(Fusion, MergesAnActivationIntoTheLayerThatItAloneReads) {
  const Graph graph = residual_block();
  const Fusion fusion(graph);
  EXPECT_EQ(fusion.activation_after(3), 4);
  EXPECT_EQ(fusion.activation_after(1), -1);
}

TEST(Fusion, MergesAnAddIntoItsNormWhicheverInputThatIs) {
  Graph graph = residual_block();
  EXPECT_EQ(Fusion(graph).fuse_add(3).norm, 2);
  EXPECT_EQ(Fusion(graph).fuse_add(3).residual, 0);
  graph.layers[3].inputs = {2, 0};
  EXPECT_EQ(Fusion(graph).fuse_add(3).norm, 2);
}

TEST(Fusion, LeavesAnAddWithoutANormOfItsOwn) {
  Graph graph = residual_block();
  graph.layers.push_back(layer(LayerKind::convolution, {2}));  // so that the add is not the norm's only reader
  EXPECT_EQ(Fusion(graph).fuse_add(3).norm, -1);
}

TEST(DenseBlocks, GrowingConcatenationsShareTheBlockOfTheLast) {
  Graph graph;
  graph.layers = {layer(LayerKind::input, {}, 4), layer(LayerKind::convolution, {0}, 2),
                  layer(LayerKind::concat, {0, 1}, 6), layer(LayerKind::convolution, {2}, 3),
                  layer(LayerKind::concat, {0, 1, 3}, 9)};
  const DenseBlocks blocks = find_dense_blocks(graph, [](int) { return true; });
  std::vector<int> roots, channels;
  for (const BlockPlace& place : blocks.places) {
    roots.push_back(place.root);
    channels.push_back(place.first_channel);
  }
  EXPECT_THAT(roots, ElementsAre(4, 4, 4, 4, 4));
  EXPECT_THAT(channels, ElementsAre(0, 4, 0, 6, 0));
  EXPECT_EQ(blocks.in_two_blocks, -1);
}

TEST(DenseBlocks, TellALayerOfTwoBlocks) {
  Graph graph;
  graph.layers = {layer(LayerKind::input, {}), layer(LayerKind::convolution, {0}), layer(LayerKind::concat, {0, 1}),
                  layer(LayerKind::concat, {1, 0})};
  EXPECT_GE(find_dense_blocks(graph, [](int) { return true; }).in_two_blocks, 0);
}

TEST(DenseBlocks, LeaveOutConcatenationsWithoutABlock) {
  const Graph graph = model::make_network("googlenet", 224);
  for (const BlockPlace& place : find_dense_blocks(graph, [](int) { return false; }).places) EXPECT_EQ(place.root, -1);
}

}  // namespace
}  // namespace chexbench::engine
