#include "model/graph.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

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

TEST(AlexNet, FlattensSixBySixMapsAtAnyImageSize) {
  for (const int size : {63, 224, 300}) {
    const Graph graph = alexnet(size);
    const Layer& hidden = named(graph, "classifier.1");
    EXPECT_EQ(graph.layers[static_cast<std::size_t>(hidden.inputs.front())].channels, 256 * 36) << size;
  }
  EXPECT_EQ(named(alexnet(224), "features.3").height, 27);
  EXPECT_EQ(count(alexnet(224), LayerKind::dropout), 2);
  EXPECT_TRUE(named(alexnet(224), "features.0").bias);
}

TEST(AlexNet, SaysThatASmallImageLeavesNothing) {
  try {
    alexnet(62);
    FAIL() << "accepted";
  } catch (const SpecError& error) {
    EXPECT_EQ(std::string(error.what()),
              "model.image_size: 62 is too small for alexnet: a window of 3x3 finds 2x2 left");
  }
}

TEST(GoogLeNet, RoundsPoolsUpAndJoinsFourBranches) {
  const Graph graph = googlenet(224);
  EXPECT_EQ(count(graph, LayerKind::convolution), 57);
  EXPECT_EQ(named(graph, "inception3a.branch1.conv").height, 28);
  EXPECT_EQ(named(graph, "inception4a.branch1.conv").height, 14);
  EXPECT_EQ(named(graph, "inception5a.branch1.conv").height, 7);
  EXPECT_EQ(named(graph, "inception5a.branch1.bn").epsilon, 1e-3);
  std::vector<int> joined;
  for (const Layer& layer : graph.layers) {
    if (layer.kind == LayerKind::concat) joined.push_back(layer.channels);
  }
  EXPECT_EQ(joined, (std::vector<int>{256, 480, 512, 512, 512, 528, 832, 832, 1024}));
}

TEST(MobileNetV2, FiltersDepthwiseAndAddsWhereShapesAgree) {
  const Graph graph = mobilenet_v2(224);
  EXPECT_EQ(count(graph, LayerKind::convolution), 52);
  EXPECT_EQ(count(graph, LayerKind::add), 10);
  EXPECT_EQ(count(graph, LayerKind::relu6), 35);
  EXPECT_EQ(named(graph, "features.2.conv.1.0").groups, 96);
  EXPECT_EQ(named(graph, "features.2.conv.1.0").stride, 2);
  EXPECT_EQ(named(graph, "features.3.conv.1.0").stride, 1);
  EXPECT_EQ(named(graph, "features.18.0").channels, 1280);
  EXPECT_EQ(named(graph, "features.18.0").height, 7);
}

// The expected sizes are those of torch.nn.MaxPool2d.
TEST(GraphBuilder, PoolsThatRoundUpKeepNoWindowThatBeginsInThePaddingBehindTheImage) {
  GraphBuilder net("tiny", 33);
  EXPECT_EQ(net.layer(net.max_pool(net.input(), {.kernel = 2, .stride = 2, .ceil = true})).height, 17);
  EXPECT_EQ(net.layer(net.max_pool(net.input(), {.kernel = 2, .stride = 2})).height, 16);
  EXPECT_EQ(net.layer(net.max_pool(net.input(), {.kernel = 2, .stride = 3, .ceil = true})).height, 11);
  EXPECT_EQ(net.layer(net.max_pool(net.input(), {.kernel = 3, .stride = 1, .padding = 1, .ceil = true})).height, 33);
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

TEST(ClassMaps, ReplaceThePoolAndTheLinearLayer) {
  for (const std::string name : {"resnet50", "densenet121", "googlenet", "mobilenet_v2"}) {
    const Graph network = make_network(name, 224, 5);
    const Graph maps = class_map_network(network);
    const Layer& flat = maps.layers.back();
    const Layer& head = *(maps.layers.end() - 2);
    EXPECT_EQ(flat.kind, LayerKind::flatten) << name;
    EXPECT_EQ(flat.channels, 5 * 7 * 7) << name;
    EXPECT_EQ(head.kind, LayerKind::convolution) << name;
    EXPECT_EQ(head.channels, 5) << name;
    EXPECT_EQ(head.kernel, 1) << name;
    EXPECT_EQ(head.inputs.front(), static_cast<int>(maps.layers.size()) - 3) << name << ": the feature maps";
    EXPECT_EQ(parameter_count(maps), parameter_count(network)) << name;
    EXPECT_EQ(head.name, network.layers.back().name) << name;
  }
}

TEST(ClassMaps, AreRefusedWhereLayersMixPlaces) {
  try {
    class_map_network(make_network("alexnet", 224));
    FAIL() << "nothing thrown";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find("alexnet has no class activation maps"), std::string::npos);
  }
}

}  // namespace
}  // namespace chexbench::model
