// Describes a network as a graph of layers with their shapes. It contains no arithmetic: engines compile the graph for
// their device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/weights.hpp"

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
  linear,  // the last one: to_string() relies on it
};

// Returns the kind's name as in the enum, e.g. "max_pool".
std::string to_string(LayerKind kind);

// One layer. channels, height and width are the shape of its output for one image, [channels, height, width]. After
// global_average_pool, flatten and linear, height and width are 1.
struct Layer {
  LayerKind kind = LayerKind::input;
  std::string name;         // prefix of its parameters' names, "layer1.0.conv1"; empty if it has no parameters
  std::vector<int> inputs;  // indices of earlier layers
  int channels = 0;
  int height = 0;
  int width = 0;
  int kernel = 1;         // convolution, max_pool, average_pool: height and width of the window
  int stride = 1;         // of the same kinds, in both directions
  int padding = 0;        // of the same kinds, on all four sides
  int groups = 1;         // convolution
  bool bias = false;      // convolution, linear
  double epsilon = 1e-5;  // batch_norm
  double drop_rate = 0;   // dropout: the share of values that training sets to 0

  // Pixels of one channel of the output.
  std::int64_t pixels() const { return std::int64_t{height} * width; }
};

// A network: its layers in topological order. Layer 0 is the input; the last layer gives the logits. Immutable once
// built, so threads may share it.
struct Graph {
  std::string name;    // of the network, as in the spec
  int image_size = 0;  // height and width of the input, in pixels
  std::vector<Layer> layers;
};

// Builds a Graph by appending layers, and computes their shapes. Each function that adds a layer takes the indices of
// its inputs and returns the index of the new layer. Inputs must be indices returned before, and the inputs of add()
// and concat() must have matching shapes; neither is checked. Not thread-safe. Example:
//   GraphBuilder net("tiny", 32);
//   int x = net.convolution(net.input(), "conv1", 64, {.kernel = 7, .stride = 2, .padding = 3});
//   x = net.relu(net.batch_norm(x, "bn1"));
//   net.linear(net.global_average_pool(x), "fc", 14);
//   Graph graph = net.finish();
class GraphBuilder {
 public:
  // The square window of a convolution or a pool.
  struct Window {
    int kernel = 1;
    int stride = 1;
    int padding = 0;
    bool ceil = false;  // keep a last window that is only partly inside the image (PyTorch's ceil_mode)
  };

  // Starts a graph with an input layer of [3, image_size, image_size].
  // @throws SpecError if image_size < 32
  GraphBuilder(std::string name, int image_size);

  // The index of the input layer.
  int input() const { return 0; }
  // Each function that takes a Window checks that it fits.
  // @throws SpecError if no window fits into the rest of the image
  int convolution(int from, const std::string& name, int channels, Window window, int groups = 1, bool bias = false);
  int batch_norm(int from, const std::string& name, double epsilon = 1e-5);
  int relu(int from);
  int relu6(int from);
  int add(int left, int right);
  int concat(std::vector<int> from);
  int max_pool(int from, Window window);
  int average_pool(int from, Window window);
  int global_average_pool(int from);
  // Takes size x size means over windows that cover the image, like PyTorch's AdaptiveAvgPool2d.
  int adaptive_average_pool(int from, int size);
  // Makes each value of an image a channel, in PyTorch's order (channel, row, column).
  int flatten(int from);
  int dropout(int from, double rate);
  int linear(int from, const std::string& name, int outputs);

  const Layer& layer(int index) const { return graph_.layers[static_cast<std::size_t>(index)]; }
  // Moves the finished graph out of the builder, which must not be used afterwards.
  Graph finish() { return std::move(graph_); }

 private:
  int append(Layer layer);
  int append_windowed(Layer layer, Window window);

  Graph graph_;
};

}  // namespace chexbench::model
