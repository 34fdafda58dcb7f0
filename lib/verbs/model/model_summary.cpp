#include "verbs/model/model_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "core/text.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

template <typename Value>
Value total(const std::vector<ModelLayer>& layers, Value ModelLayer::*field) {
  return std::accumulate(layers.begin(), layers.end(), Value{},
                         [field](Value sum, const ModelLayer& layer) { return sum + layer.*field; });
}

// Zero becomes an empty cell, so that a column shows where the work is.
std::string count(std::int64_t value) { return value == 0 ? "" : grouped(static_cast<std::uint64_t>(value)); }
std::string mega(double value) { return value == 0 ? "" : report::decimal(value * 1e-6); }

std::string shape(const ModelLayer& layer) {
  return fmt::format("{}x{}x{}", layer.channels, layer.height, layer.width);
}

Json layer_to_json(const ModelLayer& layer) {
  return {{"name", layer.name},
          {"kind", layer.kind},
          {"channels", layer.channels},
          {"height", layer.height},
          {"width", layer.width},
          {"parameters", layer.parameters},
          {"forward_flops", layer.forward_flops},
          {"activation_bytes", layer.activation_bytes}};
}

Json tensor_to_json(const model::TensorInfo& tensor) { return {{"name", tensor.name}, {"shape", tensor.shape}}; }

// Returns the bytes of the layer's output for one image in f32. A flatten layer has none, because its output is the
// same memory as its input.
std::int64_t activation_bytes(const model::Layer& layer) {
  if (layer.kind == model::LayerKind::flatten) return 0;
  return std::int64_t{layer.channels} * layer.pixels() * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

std::int64_t ModelSummary::parameters() const { return total(layers, &ModelLayer::parameters); }
double ModelSummary::forward_flops() const { return total(layers, &ModelLayer::forward_flops); }
std::int64_t ModelSummary::activation_bytes() const { return total(layers, &ModelLayer::activation_bytes); }

std::string model_table(const ModelSummary& network, const report::LineWidth& width) {
  report::TextTable table{.header = {"layer", "kind", "output", "parameters", "MFLOP", "activation_MB"},
                          .rows = {},
                          .left_columns = 2,
                          .expendable = {1, 5}};
  for (const ModelLayer& layer : network.layers) {
    table.rows.push_back({layer.name, layer.kind, shape(layer), count(layer.parameters), mega(layer.forward_flops),
                          mega(static_cast<double>(layer.activation_bytes))});
  }
  return fmt::format(
      "{} for images of {}x{}; outputs, FLOPs (a multiply-add counts two) and activations (f32) of one image\n\n{}\n"
      "parameters        {} ({:.1f} MB in f32, as many bytes of gradients)\n"
      "forward           {} GFLOP an image\n"
      "training          {} GFLOP an image: forward, and the gradients of data and of weights\n"
      "activations       {:.1f} MB an image, each layer's output kept once (engines that fuse layers keep less)\n",
      network.name, network.image_size, network.image_size, report::fitted_text(table, width, "--format json"),
      count(network.parameters()), static_cast<double>(network.gradient_bytes()) * 1e-6,
      report::decimal(network.forward_flops() * 1e-9), report::decimal(network.training_flops() * 1e-9),
      static_cast<double>(network.activation_bytes()) * 1e-6);
}

std::string model_json(const ModelSummary& network) {
  return indented_json({{"chexbench_version", CHEXBENCH_VERSION},
                        {"name", network.name},
                        {"image_size", network.image_size},
                        {"parameters", network.parameters()},
                        {"gradient_bytes", network.gradient_bytes()},
                        {"forward_flops", network.forward_flops()},
                        {"training_flops", network.training_flops()},
                        {"activation_bytes", network.activation_bytes()},
                        {"layers", list_of(network.layers, layer_to_json)},
                        {"tensors", list_of(network.tensors, tensor_to_json)}});
}

ModelSummary summarize_model(const std::string& name, int image_size) {
  const model::Graph graph = model::make_network(name, image_size);
  ModelSummary summary{.name = name, .image_size = image_size, .layers = {}, .tensors = {}};
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const model::Layer& layer = graph.layers[i];
    summary.layers.push_back({.name = layer.name,
                              .kind = to_string(layer.kind),
                              .channels = layer.channels,
                              .height = layer.height,
                              .width = layer.width,
                              .forward_flops = model::forward_flops(graph, static_cast<int>(i)),
                              .activation_bytes = activation_bytes(layer)});
  }
  for (const model::Parameter& parameter : model::parameters(graph)) {
    summary.layers[static_cast<std::size_t>(parameter.layer)].parameters += parameter.info.count();
    summary.tensors.push_back(parameter.info);
  }
  std::ranges::copy(model::buffers(graph), std::back_inserter(summary.tensors));
  return summary;
}

}  // namespace chexbench::verbs
