#include "model/graph.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "model/networks.hpp"

namespace chexbench::model {
namespace {

const Layer& named(const Graph& graph, const std::string& name) {
  for (const Layer& layer : graph.layers) {
    if (layer.name == name) return layer;
  }
  throw std::runtime_error("no layer " + name);
}

int count(const Graph& graph, LayerKind kind) {
  int found = 0;
  for (const Layer& layer : graph.layers) found += layer.kind == kind ? 1 : 0;
  return found;
}

TEST(Graph, LayersOnlyReadEarlierOnes) {
  for (const std::string& name : network_names()) {
    const Graph graph = make_network(name, 224);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      for (const int input : graph.layers[i].inputs) EXPECT_LT(input, static_cast<int>(i)) << name;
    }
  }
}

TEST(Graph, EveryNetworkEndsInOneLogitAFinding) {
  for (const std::string& name : network_names()) {
    const Graph graph = make_network(name, 224);
    const Layer& last = graph.layers.back();
    EXPECT_EQ(last.kind, LayerKind::linear);
    EXPECT_EQ(last.channels, 14);
  }
}

TEST(ResNet50, PutsTheStrideIntoTheThreeByThreeConvolution) {
  const Graph graph = resnet50(224);
  EXPECT_EQ(named(graph, "layer2.0.conv1").stride, 1);
  EXPECT_EQ(named(graph, "layer2.0.conv2").stride, 2);
  EXPECT_EQ(named(graph, "layer2.0.downsample.0").stride, 2);
  EXPECT_EQ(named(graph, "layer2.1.conv2").stride, 1);
}

TEST(ResNet50, HasFiftyThreeConvolutionsAndSixteenShortcuts) {
  const Graph graph = resnet50(224);
  EXPECT_EQ(count(graph, LayerKind::convolution), 53);
  EXPECT_EQ(count(graph, LayerKind::add), 16);
}

TEST(ResNet50, HalvesOddSizesAsPyTorchDoes) {
  const Graph graph = resnet50(97);
  EXPECT_EQ(named(graph, "conv1").height, 49);
  EXPECT_EQ(named(graph, "layer1.0.conv1").height, 25);
  EXPECT_EQ(named(graph, "layer4.2.conv3").height, 4);
}

TEST(DenseNet121, EachLayerReadsAllBeforeIt) {
  const Graph graph = densenet121(224);
  EXPECT_EQ(named(graph, "features.denseblock1.denselayer6.norm1").channels, 64 + 5 * 32);
  EXPECT_EQ(named(graph, "features.denseblock4.denselayer16.conv2").channels, 32);
  EXPECT_EQ(named(graph, "features.norm5").channels, 1024);
  EXPECT_EQ(count(graph, LayerKind::convolution), 120);
}

TEST(GraphBuilder, ConcatAddsChannels) {
  GraphBuilder net("tiny", 32);
  const int left = net.convolution(net.input(), "left", 8, {});
  const int right = net.convolution(net.input(), "right", 24, {.kernel = 3, .padding = 1});
  EXPECT_EQ(net.layer(net.concat({left, right})).channels, 32);
}

TEST(Networks, RefuseUnknownNamesAndSuggestTheNearest) {
  try {
    make_network("resnet5", 224);
    FAIL() << "accepted";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find("resnet50"), std::string::npos);
  }
}

TEST(Networks, RefuseImagesThatVanishOnTheWay) { EXPECT_THROW(make_network("densenet121", 31), SpecError); }

}  // namespace
}  // namespace chexbench::model
