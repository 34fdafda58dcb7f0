#include "model/graph.hpp"

#include <fmt/format.h>

#include <iterator>
#include <numeric>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::model {

std::int64_t TensorInfo::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, [](auto a, auto b) { return a * b; });
}

std::string to_string(LayerKind kind) {
  constexpr const char* kNames[] = {"input",
                                    "convolution",
                                    "batch_norm",
                                    "relu",
                                    "relu6",
                                    "add",
                                    "concat",
                                    "max_pool",
                                    "average_pool",
                                    "global_average_pool",
                                    "adaptive_average_pool",
                                    "flatten",
                                    "dropout",
                                    "linear"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(LayerKind::linear) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

GraphBuilder::GraphBuilder(std::string name, int image_size) {
  // The networks halve the image five times; below 32 pixels the fifth time would leave nothing.
  if (image_size < 32) throw SpecError(fmt::format("model.image_size: {} needs at least 32, got {}", name, image_size));
  graph_.name = std::move(name);
  graph_.image_size = image_size;
  graph_.layers.push_back({.kind = LayerKind::input, .channels = 3, .height = image_size, .width = image_size});
}

namespace {

// Returns how many windows fit along one side, counted as PyTorch does: a window that `ceil` adds must begin inside the
// image or its left padding.
int count_windows(int size, GraphBuilder::Window window) {
  const int room = size + 2 * window.padding - window.kernel + (window.ceil ? window.stride - 1 : 0);
  if (room < 0) return 0;
  const int windows = room / window.stride + 1;
  return window.ceil && (windows - 1) * window.stride >= size + window.padding ? windows - 1 : windows;
}

}  // namespace

int GraphBuilder::append(Layer added) {
  graph_.layers.push_back(std::move(added));
  return static_cast<int>(graph_.layers.size()) - 1;
}

int GraphBuilder::append_windowed(Layer added, Window window) {
  const auto windows = [&](int size) { return count_windows(size, window); };
  if (windows(added.height) < 1) {
    throw SpecError(fmt::format("model.image_size: {} is too small for {}: a window of {}x{} finds {}x{} left",
                                graph_.image_size, graph_.name, window.kernel, window.kernel, added.height,
                                added.width));
  }
  added.kernel = window.kernel;
  added.stride = window.stride;
  added.padding = window.padding;
  added.height = windows(added.height);
  added.width = windows(added.width);
  return append(std::move(added));
}

namespace {

// Returns a layer with the input `index`, whose output has the shape of `from`.
Layer shaped_as(const Layer& from, int index, LayerKind kind) {
  return {.kind = kind, .inputs = {index}, .channels = from.channels, .height = from.height, .width = from.width};
}

}  // namespace

int GraphBuilder::convolution(int from, const std::string& name, int channels, Window window, int groups, bool bias) {
  Layer added = shaped_as(layer(from), from, LayerKind::convolution);
  added.name = name;
  added.channels = channels;
  added.groups = groups;
  added.bias = bias;
  return append_windowed(std::move(added), window);
}

int GraphBuilder::batch_norm(int from, const std::string& name, double epsilon) {
  Layer added = shaped_as(layer(from), from, LayerKind::batch_norm);
  added.name = name;
  added.epsilon = epsilon;
  return append(std::move(added));
}

int GraphBuilder::relu(int from) { return append(shaped_as(layer(from), from, LayerKind::relu)); }

int GraphBuilder::relu6(int from) { return append(shaped_as(layer(from), from, LayerKind::relu6)); }

int GraphBuilder::add(int left, int right) {
  Layer added = shaped_as(layer(left), left, LayerKind::add);
  added.inputs.push_back(right);
  return append(std::move(added));
}

int GraphBuilder::concat(std::vector<int> from) {
  Layer added = shaped_as(layer(from.front()), from.front(), LayerKind::concat);
  added.channels =
      std::accumulate(from.begin(), from.end(), 0, [&](int sum, int i) { return sum + layer(i).channels; });
  added.inputs = std::move(from);
  return append(std::move(added));
}

int GraphBuilder::max_pool(int from, Window window) {
  return append_windowed(shaped_as(layer(from), from, LayerKind::max_pool), window);
}

int GraphBuilder::average_pool(int from, Window window) {
  return append_windowed(shaped_as(layer(from), from, LayerKind::average_pool), window);
}

int GraphBuilder::global_average_pool(int from) {
  Layer added = shaped_as(layer(from), from, LayerKind::global_average_pool);
  added.height = added.width = 1;
  return append(std::move(added));
}

int GraphBuilder::adaptive_average_pool(int from, int size) {
  Layer added = shaped_as(layer(from), from, LayerKind::adaptive_average_pool);
  added.height = added.width = size;
  return append(std::move(added));
}

int GraphBuilder::flatten(int from) {
  Layer added = shaped_as(layer(from), from, LayerKind::flatten);
  added.channels = static_cast<int>(added.channels * added.pixels());
  added.height = added.width = 1;
  return append(std::move(added));
}

int GraphBuilder::dropout(int from, double rate) {
  Layer added = shaped_as(layer(from), from, LayerKind::dropout);
  added.drop_rate = rate;
  return append(std::move(added));
}

int GraphBuilder::linear(int from, const std::string& name, int outputs) {
  Layer added = shaped_as(layer(from), from, LayerKind::linear);
  added.name = name;
  added.channels = outputs;
  added.bias = true;
  return append(std::move(added));
}

}  // namespace chexbench::model
