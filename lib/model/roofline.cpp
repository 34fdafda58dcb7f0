#include "model/roofline.hpp"

#include <algorithm>

#include "model/parameters.hpp"

namespace chexbench::model {
namespace {

// How often forward and backward together read or write a layer's tensors, or their gradients, which are as large. Each
// kernel reads its input from memory and writes its result there, as in a framework without fusion.
struct Passes {
  int inputs = 0;
  int outputs = 0;
  int weights = 0;
};

Passes passes(LayerKind kind) {
  switch (kind) {
    case LayerKind::input:
    case LayerKind::flatten:  // its output shares the memory of its input
      return {};
    case LayerKind::convolution:
    case LayerKind::linear:  // forward, the gradients of the data and those of the weights touch all three once each
      return {.inputs = 3, .outputs = 3, .weights = 3};
    case LayerKind::batch_norm:  // the statistics need a separate pass, in forward and in backward
      return {.inputs = 5, .outputs = 3};
    case LayerKind::relu:
    case LayerKind::relu6:
    case LayerKind::dropout:  // backward reads the output, or a mask, to know which values were kept
      return {.inputs = 2, .outputs = 3};
    case LayerKind::max_pool:  // backward reads input and output to find the maxima
      return {.inputs = 3, .outputs = 3};
    case LayerKind::add:  // backward passes the gradient on unchanged
      return {.inputs = 1, .outputs = 1};
    case LayerKind::concat:
    case LayerKind::average_pool:
    case LayerKind::global_average_pool:
    case LayerKind::adaptive_average_pool:
      return {.inputs = 2, .outputs = 2};
  }
  return {};
}

double values(const Layer& layer) { return static_cast<double>(layer.channels) * static_cast<double>(layer.pixels()); }

// Returns, for each layer, how many others read its output.
std::vector<int> readers(const Graph& graph) {
  std::vector<int> count(graph.layers.size());
  for (const Layer& layer : graph.layers) {
    for (const int input : layer.inputs) ++count[static_cast<std::size_t>(input)];
  }
  return count;
}

}  // namespace

double Work::seconds(const Roofs& roofs) const {
  return std::max(flops / roofs.flops_per_s, bytes / roofs.bytes_per_s);
}

bool Work::memory_bound(const Roofs& roofs) const { return bytes / roofs.bytes_per_s > flops / roofs.flops_per_s; }

std::vector<Work> training_work(const Graph& graph, int batch_size, int value_bytes) {
  const std::vector<int> read_by = readers(graph);
  std::vector<Work> work(graph.layers.size());
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const Layer& layer = graph.layers[i];
    const Passes touched = passes(layer.kind);
    double image_values = touched.outputs * values(layer);
    for (const int input : layer.inputs)
      image_values += touched.inputs * values(graph.layers[static_cast<std::size_t>(input)]);
    // A tensor that several layers read gets a gradient from each; a sum of two reads both and writes one.
    image_values += 3 * std::max(0, read_by[i] - 1) * values(layer);
    work[i] = {.flops = 3 * batch_size * forward_flops(graph, static_cast<int>(i)),
               .bytes = batch_size * image_values * value_bytes};
  }
  for (const Parameter& parameter : parameters(graph)) {
    const auto layer = static_cast<std::size_t>(parameter.layer);
    work[layer].bytes +=
        static_cast<double>(passes(graph.layers[layer].kind).weights * parameter.info.count() * value_bytes);
  }
  return work;
}

Work update_work(const Graph& graph) {
  constexpr int kPasses = 5;  // reads weights, gradients and momenta; writes weights and momenta
  return {.flops = 0, .bytes = static_cast<double>(kPasses * parameter_count(graph)) * sizeof(float)};
}

double roofline_s(const Graph& graph, int batch_size, int value_bytes, const Roofs& roofs) {
  double seconds = 0;
  for (const Work& layer : training_work(graph, batch_size, value_bytes)) seconds += layer.seconds(roofs);
  return seconds;
}

}  // namespace chexbench::model
