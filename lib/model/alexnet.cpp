#include <string>

#include "model/networks.hpp"

namespace chexbench::model {
namespace {

constexpr double kDropRate = 0.5;
constexpr int kHidden = 4096;
constexpr GraphBuilder::Window kPool{.kernel = 3, .stride = 2};

int convolution(GraphBuilder& net, int x, int number, int channels, GraphBuilder::Window window) {
  return net.relu(net.convolution(x, "features." + std::to_string(number), channels, window, 1, true));
}

}  // namespace

Graph alexnet(int image_size, int outputs) {
  GraphBuilder net("alexnet", image_size);
  int x = convolution(net, net.input(), 0, 64, {.kernel = 11, .stride = 4, .padding = 2});
  x = convolution(net, net.max_pool(x, kPool), 3, 192, {.kernel = 5, .padding = 2});
  x = convolution(net, net.max_pool(x, kPool), 6, 384, {.kernel = 3, .padding = 1});
  x = convolution(net, x, 8, 256, {.kernel = 3, .padding = 1});
  x = convolution(net, x, 10, 256, {.kernel = 3, .padding = 1});
  x = net.flatten(net.adaptive_average_pool(net.max_pool(x, kPool), 6));
  x = net.relu(net.linear(net.dropout(x, kDropRate), "classifier.1", kHidden));
  x = net.relu(net.linear(net.dropout(x, kDropRate), "classifier.4", kHidden));
  net.linear(x, "classifier.6", outputs);
  return net.finish();
}

}  // namespace chexbench::model
