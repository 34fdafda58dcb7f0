#include <array>
#include <string>

#include "model/networks.hpp"

namespace chexbench::model {
namespace {

constexpr double kDropRate = 0.2;

struct Stage {
  int expansion;
  int channels;
  int blocks;
  int stride;  // of the first block; the others have stride 1
};

struct Block {
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
int inverted_residual(GraphBuilder& net, int x, const Block& block) {
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
  constexpr std::array<Stage, 7> kStages{
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

}  // namespace chexbench::model
