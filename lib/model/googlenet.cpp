#include <string>

#include "model/networks.hpp"

namespace chexbench::model {
namespace {

using Window = GraphBuilder::Window;

constexpr double kEpsilon = 1e-3;
constexpr double kDropRate = 0.2;
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

int convolution(GraphBuilder& net, int x, const std::string& name, int channels, Window window) {
  return net.relu(net.batch_norm(net.convolution(x, name + ".conv", channels, window), name + ".bn", kEpsilon));
}

int inception(GraphBuilder& net, int x, const Inception& sizes) {
  const std::string name = std::string("inception") + sizes.name;
  const int ones = convolution(net, x, name + ".branch1", sizes.ones, {});
  const int narrow_threes = convolution(net, x, name + ".branch2.0", sizes.narrow_threes, {});
  const int threes = convolution(net, narrow_threes, name + ".branch2.1", sizes.threes, kThreeByThree);
  const int narrow_second = convolution(net, x, name + ".branch3.0", sizes.narrow_second, {});
  const int second = convolution(net, narrow_second, name + ".branch3.1", sizes.second, kThreeByThree);
  const int pool = net.max_pool(x, {.kernel = 3, .stride = 1, .padding = 1, .ceil = true});
  const int pooled = convolution(net, pool, name + ".branch4.1", sizes.pooled, {});
  return net.concat({ones, threes, second, pooled});
}

}  // namespace

Graph googlenet(int image_size, int outputs) {
  GraphBuilder net("googlenet", image_size);
  int x = convolution(net, net.input(), "conv1", 64, {.kernel = 7, .stride = 2, .padding = 3});
  x = convolution(net, net.max_pool(x, kHalve), "conv2", 64, {});
  x = net.max_pool(convolution(net, x, "conv3", 192, kThreeByThree), kHalve);
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

}  // namespace chexbench::model
