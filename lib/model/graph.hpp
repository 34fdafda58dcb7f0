// A network as a graph of layers: description only, no arithmetic. Engines compile it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/tensor_info.hpp"

namespace chexbench::model {

enum class LayerKind {
  input,
  convolution,
  batch_norm,
  relu,
  relu6,
  add,
  concat,
  max_pool,
  average_pool,
  global_average_pool,
  adaptive_average_pool,
  flatten,
  dropout,
  linear,
};

// As in the enum: "max_pool".
std::string to_string(LayerKind kind);

// One layer. Shapes are those of one image: [channels, height, width]. After global_average_pool, flatten and linear
// height and width are 1.
struct Layer {
  LayerKind kind = LayerKind::input;
  std::string name;         // the prefix of its parameters' names: "layer1.0.conv1"; empty where it has none
  std::vector<int> inputs;  // indices of earlier layers
  int channels = 0;
  int height = 0;
  int width = 0;
  int kernel = 1;  // convolution, pools: square
  int stride = 1;
  int padding = 0;
  int groups = 1;
  bool bias = false;      // convolution, linear
  double epsilon = 1e-5;  // batch_norm
  double drop_rate = 0;   // dropout: the share of values that training sets to 0

  std::int64_t pixels() const { return std::int64_t{height} * width; }
};

// Layers in topological order: layer 0 is the input, the last one gives the logits. Immutable once built.
struct Graph {
  std::string name;
  int image_size = 0;
  std::vector<Layer> layers;
};

// Appends layers and works out their shapes. Each function returns the index of the layer it added.
//   GraphBuilder net("tiny", 32);
//   int x = net.relu(net.batch_norm(net.convolution(net.input(), "conv1", 64, {.kernel = 7, .stride = 2, .padding =
//   3}), "bn1")); net.linear(net.global_average_pool(x), "fc", 14); Graph graph = net.finish();
class GraphBuilder {
 public:
  struct Window {
    int kernel = 1;
    int stride = 1;
    int padding = 0;
    bool ceil = false;  // also a last window that lies in the image in part
  };

  // All @throw SpecError: image_size < 32, or a window that finds nothing left of the image.
  GraphBuilder(std::string name, int image_size);

  int input() const { return 0; }
  int convolution(int from, const std::string& name, int channels, Window window, int groups = 1, bool bias = false);
  int batch_norm(int from, const std::string& name, double epsilon = 1e-5);
  int relu(int from);
  int relu6(int from);
  int add(int left, int right);
  int concat(std::vector<int> from);
  int max_pool(int from, Window window);
  int average_pool(int from, Window window);
  int global_average_pool(int from);
  // size x size means over windows that cover the image, as PyTorch's AdaptiveAvgPool2d.
  int adaptive_average_pool(int from, int size);
  // All values of an image as channels, in PyTorch's order.
  int flatten(int from);
  int dropout(int from, double rate);
  int linear(int from, const std::string& name, int outputs);

  const Layer& layer(int index) const { return graph_.layers[static_cast<std::size_t>(index)]; }
  Graph finish() { return std::move(graph_); }

 private:
  int append(Layer layer);
  int append_windowed(Layer layer, Window window);

  Graph graph_;
};

}  // namespace chexbench::model
