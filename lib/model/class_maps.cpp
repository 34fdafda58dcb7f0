#include "model/class_maps.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"

namespace chexbench::model {

Graph class_map_network(Graph network) {
  std::vector<Layer>& layers = network.layers;
  Layer head = layers.back();
  layers.pop_back();
  while (layers.back().kind == LayerKind::dropout) layers.pop_back();  // an evaluation drops nothing
  if (head.kind != LayerKind::linear || layers.back().kind != LayerKind::global_average_pool) {
    throw SpecError(
        fmt::format("{} has no class activation maps, because layers lie between its feature maps and its last layer "
                    "that mix their places: use resnet50, densenet121, googlenet or mobilenet_v2",
                    network.name));
  }
  head.kind = LayerKind::convolution;
  head.inputs = layers.back().inputs;
  layers.pop_back();
  const Layer& features = layers.at(static_cast<std::size_t>(head.inputs.front()));
  head.height = features.height;
  head.width = features.width;
  Layer flat{.kind = LayerKind::flatten, .inputs = {static_cast<int>(layers.size())}};
  flat.channels = static_cast<int>(head.channels * features.pixels());
  flat.height = flat.width = 1;
  layers.push_back(std::move(head));
  layers.push_back(std::move(flat));
  return network;
}

}  // namespace chexbench::model
