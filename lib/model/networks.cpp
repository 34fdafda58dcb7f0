#include "model/networks.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::model {
namespace {

struct ResnetStage {
  int blocks;
  int width;  // of the 3x3 convolution
  int stride;
};

int bottleneck(GraphBuilder& net, int x, const std::string& name, int width, int stride) {
  constexpr int kExpansion = 4;
  const int narrow = net.relu(net.batch_norm(net.convolution(x, name + ".conv1", width, {}), name + ".bn1"));
  const int middle = net.relu(net.batch_norm(
      net.convolution(narrow, name + ".conv2", width, {.kernel = 3, .stride = stride, .padding = 1}), name + ".bn2"));
  const int wide = net.batch_norm(net.convolution(middle, name + ".conv3", width * kExpansion, {}), name + ".bn3");
  int shortcut = x;
  if (net.layer(x).channels != width * kExpansion) {
    shortcut = net.batch_norm(net.convolution(x, name + ".downsample.0", width * kExpansion, {.stride = stride}),
                              name + ".downsample.1");
  }
  return net.relu(net.add(wide, shortcut));
}

}  // namespace

Graph resnet50(int image_size, int outputs) {
  constexpr std::array<ResnetStage, 4> kStages{{{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}};
  GraphBuilder net("resnet50", image_size);
  int x = net.convolution(net.input(), "conv1", 64, {.kernel = 7, .stride = 2, .padding = 3});
  x = net.relu(net.batch_norm(x, "bn1"));
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    const auto [blocks, width, stride] = kStages[stage];
    for (int block = 0; block < blocks; ++block) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      x = bottleneck(net, x, name, width, block == 0 ? stride : 1);
    }
  }
  net.linear(net.global_average_pool(x), "fc", outputs);
  return net.finish();
}

namespace {

constexpr int kGrowth = 32;
constexpr int kBottleneck = 4 * kGrowth;

int dense_layer(GraphBuilder& net, const std::vector<int>& features, const std::string& name) {
  int x = features.size() == 1 ? features.front() : net.concat(features);
  x = net.relu(net.batch_norm(x, name + ".norm1"));
  x = net.convolution(x, name + ".conv1", kBottleneck, {});
  x = net.relu(net.batch_norm(x, name + ".norm2"));
  return net.convolution(x, name + ".conv2", kGrowth, {.kernel = 3, .padding = 1});
}

// Adds a dense block, each of whose layers takes the block's input and the outputs of all earlier layers.
int dense_block(GraphBuilder& net, int x, int layers, const std::string& name) {
  std::vector<int> features{x};
  for (int layer = 1; layer <= layers; ++layer) {
    features.push_back(dense_layer(net, features, name + ".denselayer" + std::to_string(layer)));
  }
  return net.concat(features);
}

int transition(GraphBuilder& net, int x, const std::string& name) {
  const int halved = net.layer(x).channels / 2;
  x = net.convolution(net.relu(net.batch_norm(x, name + ".norm")), name + ".conv", halved, {});
  return net.average_pool(x, {.kernel = 2, .stride = 2});
}

}  // namespace

Graph densenet121(int image_size, int outputs) {
  constexpr std::array<int, 4> kLayers{6, 12, 24, 16};
  GraphBuilder net("densenet121", image_size);
  int x = net.convolution(net.input(), "features.conv0", 2 * kGrowth, {.kernel = 7, .stride = 2, .padding = 3});
  x = net.relu(net.batch_norm(x, "features.norm0"));
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (std::size_t block = 0; block < kLayers.size(); ++block) {
    const std::string number = std::to_string(block + 1);
    x = dense_block(net, x, kLayers[block], "features.denseblock" + number);
    if (block + 1 < kLayers.size()) x = transition(net, x, "features.transition" + number);
  }
  x = net.relu(net.batch_norm(x, "features.norm5"));
  net.linear(net.global_average_pool(x), "classifier", outputs);
  return net.finish();
}

namespace {

constexpr double kAlexnetDropRate = 0.5;
constexpr int kHidden = 4096;
constexpr GraphBuilder::Window kPool{.kernel = 3, .stride = 2};

int relu_convolution(GraphBuilder& net, int x, int number, int channels, GraphBuilder::Window window) {
  return net.relu(net.convolution(x, "features." + std::to_string(number), channels, window, 1, true));
}

}  // namespace

Graph alexnet(int image_size, int outputs) {
  GraphBuilder net("alexnet", image_size);
  int x = relu_convolution(net, net.input(), 0, 64, {.kernel = 11, .stride = 4, .padding = 2});
  x = relu_convolution(net, net.max_pool(x, kPool), 3, 192, {.kernel = 5, .padding = 2});
  x = relu_convolution(net, net.max_pool(x, kPool), 6, 384, {.kernel = 3, .padding = 1});
  x = relu_convolution(net, x, 8, 256, {.kernel = 3, .padding = 1});
  x = relu_convolution(net, x, 10, 256, {.kernel = 3, .padding = 1});
  x = net.flatten(net.adaptive_average_pool(net.max_pool(x, kPool), 6));
  x = net.relu(net.linear(net.dropout(x, kAlexnetDropRate), "classifier.1", kHidden));
  x = net.relu(net.linear(net.dropout(x, kAlexnetDropRate), "classifier.4", kHidden));
  net.linear(x, "classifier.6", outputs);
  return net.finish();
}

namespace {

using Window = GraphBuilder::Window;

constexpr double kEpsilon = 1e-3;
constexpr double kDropRate = 0.2;  // MobileNetV2's, too
constexpr Window kHalve{.kernel = 3, .stride = 2, .ceil = true};
constexpr Window kThreeByThree{.kernel = 3, .padding = 1};

// The output channels of an inception module's four branches, and of the 1x1 convolutions that narrow the input of two
// of them.
struct Inception {
  const char* name;
  int ones;
  int narrow_threes, threes;
  int narrow_second, second;  // the paper's 5x5 branch, which torchvision built with 3x3
  int pooled;
};

int norm_convolution(GraphBuilder& net, int x, const std::string& name, int channels, Window window) {
  return net.relu(net.batch_norm(net.convolution(x, name + ".conv", channels, window), name + ".bn", kEpsilon));
}

int inception(GraphBuilder& net, int x, const Inception& sizes) {
  const std::string name = std::string("inception") + sizes.name;
  const int ones = norm_convolution(net, x, name + ".branch1", sizes.ones, {});
  const int narrow_threes = norm_convolution(net, x, name + ".branch2.0", sizes.narrow_threes, {});
  const int threes = norm_convolution(net, narrow_threes, name + ".branch2.1", sizes.threes, kThreeByThree);
  const int narrow_second = norm_convolution(net, x, name + ".branch3.0", sizes.narrow_second, {});
  const int second = norm_convolution(net, narrow_second, name + ".branch3.1", sizes.second, kThreeByThree);
  const int pool = net.max_pool(x, {.kernel = 3, .stride = 1, .padding = 1, .ceil = true});
  const int pooled = norm_convolution(net, pool, name + ".branch4.1", sizes.pooled, {});
  return net.concat({ones, threes, second, pooled});
}

}  // namespace

Graph googlenet(int image_size, int outputs) {
  GraphBuilder net("googlenet", image_size);
  int x = norm_convolution(net, net.input(), "conv1", 64, {.kernel = 7, .stride = 2, .padding = 3});
  x = norm_convolution(net, net.max_pool(x, kHalve), "conv2", 64, {});
  x = net.max_pool(norm_convolution(net, x, "conv3", 192, kThreeByThree), kHalve);
  x = inception(net, x, {"3a", 64, 96, 128, 16, 32, 32});
  x = inception(net, x, {"3b", 128, 128, 192, 32, 96, 64});
  x = net.max_pool(x, kHalve);
  x = inception(net, x, {"4a", 192, 96, 208, 16, 48, 64});
  x = inception(net, x, {"4b", 160, 112, 224, 24, 64, 64});
  x = inception(net, x, {"4c", 128, 128, 256, 24, 64, 64});
  x = inception(net, x, {"4d", 112, 144, 288, 32, 64, 64});
  x = inception(net, x, {"4e", 256, 160, 320, 32, 128, 128});
  x = net.max_pool(x, {.kernel = 2, .stride = 2, .ceil = true});
  x = inception(net, x, {"5a", 256, 160, 320, 32, 128, 128});
  x = inception(net, x, {"5b", 384, 192, 384, 48, 128, 128});
  net.linear(net.dropout(net.global_average_pool(x), kDropRate), "fc", outputs);
  return net.finish();
}

namespace {

struct MobilenetStage {
  int expansion;
  int channels;
  int blocks;
  int stride;  // of the first block; the others have stride 1
};

struct InvertedResidual {
  std::string name;
  int expansion, channels, stride;
};

int depthwise(GraphBuilder& net, int x, const std::string& name, int stride) {
  const int channels = net.layer(x).channels;
  const int y =
      net.convolution(x, name + ".0", channels, {.kernel = 3, .stride = stride, .padding = 1}, /*groups=*/channels);
  return net.relu6(net.batch_norm(y, name + ".1"));
}

// Adds a block that widens its input, filters each channel separately, and narrows without an activation; its input is
// added to the result if the shapes agree.
int inverted_residual(GraphBuilder& net, int x, const InvertedResidual& block) {
  const std::string name = block.name + ".conv.";
  const int narrow = net.layer(x).channels;
  int wide = x, next = 0;
  if (block.expansion != 1) {
    wide = net.relu6(net.batch_norm(net.convolution(x, name + "0.0", narrow * block.expansion, {}), name + "0.1"));
    next = 1;
  }
  wide = depthwise(net, wide, name + std::to_string(next), block.stride);
  const int y = net.batch_norm(net.convolution(wide, name + std::to_string(next + 1), block.channels, {}),
                               name + std::to_string(next + 2));
  return block.stride == 1 && narrow == block.channels ? net.add(x, y) : y;
}

}  // namespace

Graph mobilenet_v2(int image_size, int outputs) {
  constexpr std::array<MobilenetStage, 7> kStages{
      {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
  GraphBuilder net("mobilenet_v2", image_size);
  int x = net.convolution(net.input(), "features.0.0", 32, {.kernel = 3, .stride = 2, .padding = 1});
  x = net.relu6(net.batch_norm(x, "features.0.1"));
  int number = 1;
  for (const auto& [expansion, channels, blocks, stride] : kStages) {
    for (int block = 0; block < blocks; ++block) {
      const std::string name = "features." + std::to_string(number++);
      x = inverted_residual(net, x, {name, expansion, channels, block == 0 ? stride : 1});
    }
  }
  x = net.relu6(net.batch_norm(net.convolution(x, "features.18.0", 1280, {}), "features.18.1"));
  net.linear(net.dropout(net.global_average_pool(x), kDropRate), "classifier.1", outputs);
  return net.finish();
}

namespace {

struct Network {
  std::string name;
  Graph (*make)(int image_size, int outputs);
  WeightDraws draws;
};

const std::array<Network, 5>& networks() {
  static const std::array<Network, 5> table{{{"resnet50", resnet50, {Draw::he_fan_out}},
                                             {"densenet121", densenet121, {Draw::he_fan_in}},
                                             {"alexnet", alexnet, {Draw::uniform_fan_in}},
                                             {"googlenet", googlenet, {Draw::narrow, Draw::narrow}},
                                             {"mobilenet_v2", mobilenet_v2, {Draw::he_fan_out, Draw::narrow}}}};
  return table;
}

const Network& find_network(const std::string& name) {
  for (const Network& network : networks()) {
    if (network.name == name) return network;
  }
  throw SpecError("model.name: no network '" + name + "'" + suggestion(name, network_names()));
}

}  // namespace

std::span<const std::string> network_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Network& network : networks()) result.push_back(network.name);
    return result;
  }();
  return names;
}

Graph make_network(const std::string& name, int image_size, int outputs) {
  return find_network(name).make(image_size, outputs);
}

WeightDraws weight_draws(const std::string& name) { return find_network(name).draws; }

Graph class_map_network(Graph network) {
  std::vector<Layer>& layers = network.layers;
  Layer head = layers.back();
  layers.pop_back();
  while (layers.back().kind == LayerKind::dropout) layers.pop_back();  // an evaluation drops nothing
  if (head.kind != LayerKind::linear || layers.back().kind != LayerKind::global_average_pool) {
    throw SpecError(
        fmt::format("{} has no class activation maps, because layers lie between its feature maps and its last layer "
                    "that mix their places: use resnet50, densenet121, googlenet or mobilenet_v2",
                    network.name));
  }
  head.kind = LayerKind::convolution;
  head.inputs = layers.back().inputs;
  layers.pop_back();
  const Layer& features = layers.at(static_cast<std::size_t>(head.inputs.front()));
  head.height = features.height;
  head.width = features.width;
  Layer flat{.kind = LayerKind::flatten, .inputs = {static_cast<int>(layers.size())}};
  flat.channels = static_cast<int>(head.channels * features.pixels());
  flat.height = flat.width = 1;
  layers.push_back(std::move(head));
  layers.push_back(std::move(flat));
  return network;
}

}  // namespace chexbench::model
