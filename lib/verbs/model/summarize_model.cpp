#include "verbs/model/summarize_model.hpp"

#include <algorithm>
#include <iterator>

#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::verbs {
namespace {

// Returns the bytes of the layer's output for one image in f32. A flatten layer has none, because its output is the
// same memory as its input.
std::int64_t activation_bytes(const model::Layer& layer) {
  if (layer.kind == model::LayerKind::flatten) return 0;
  return std::int64_t{layer.channels} * layer.pixels() * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

ModelSummary summarize_model(const std::string& name, int image_size) {
  const model::Graph graph = model::make_network(name, image_size);
  ModelSummary summary{.chexbench_version = {}, .name = name, .image_size = image_size, .layers = {}, .tensors = {}};
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
