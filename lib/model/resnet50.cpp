#include <array>
#include <string>

#include "model/networks.hpp"

namespace chexbench::model {
namespace {

struct Stage {
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
  constexpr std::array<Stage, 4> kStages{{{3, 64, 1}, {4, 128, 2}, {6, 256, 2}, {3, 512, 2}}};
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

}  // namespace chexbench::model
