#include <array>
#include <string>
#include <vector>

#include "model/networks.hpp"

namespace chexbench::model {
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

}  // namespace chexbench::model
