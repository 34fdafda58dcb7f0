#include "model/graph.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::model {

std::int64_t TensorInfo::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, [](auto a, auto b) { return a * b; });
}

GraphBuilder::GraphBuilder(std::string name, int image_size) {
  // Below 32 the fifth halving leaves nothing.
  if (image_size < 32) throw SpecError(fmt::format("model.image_size: {} needs at least 32, got {}", name, image_size));
  graph_.name = std::move(name);
  graph_.image_size = image_size;
  graph_.layers.push_back({.kind = LayerKind::input, .channels = 3, .height = image_size, .width = image_size});
}

int GraphBuilder::append(Layer added) {
  graph_.layers.push_back(std::move(added));
  return static_cast<int>(graph_.layers.size()) - 1;
}

int GraphBuilder::append_windowed(Layer added, Window window) {
  const auto windows = [&](int size) { return (size + 2 * window.padding - window.kernel) / window.stride + 1; };
  added.kernel = window.kernel;
  added.stride = window.stride;
  added.padding = window.padding;
  added.height = windows(added.height);
  added.width = windows(added.width);
  return append(std::move(added));
}

namespace {

// A layer whose output is shaped as `from`.
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

int GraphBuilder::batch_norm(int from, const std::string& name) {
  Layer added = shaped_as(layer(from), from, LayerKind::batch_norm);
  added.name = name;
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

int GraphBuilder::linear(int from, const std::string& name, int outputs) {
  Layer added = shaped_as(layer(from), from, LayerKind::linear);
  added.name = name;
  added.channels = outputs;
  added.bias = true;
  return append(std::move(added));
}

}  // namespace chexbench::model
