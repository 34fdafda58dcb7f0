#include "model/networks.hpp"

#include <array>

#include "core/errors.hpp"

namespace chexbench::model {
namespace {

struct Network {
  std::string name;
  Graph (*make)(int image_size, int outputs);
  WeightDraws draws;
};

const std::array<Network, 5>& networks() {
  static const std::array<Network, 5> table{{{"resnet50", resnet50, {Draw::he_fan_out}},
                                             {"densenet121", densenet121, {Draw::he_fan_in}},
                                             {"alexnet", alexnet, {Draw::uniform_fan_in}},
                                             {"googlenet", googlenet, {Draw::narrow, Draw::narrow}},
                                             {"mobilenet_v2", mobilenet_v2, {Draw::he_fan_out, Draw::narrow}}}};
  return table;
}

const Network& find_network(const std::string& name) {
  for (const Network& network : networks()) {
    if (network.name == name) return network;
  }
  throw SpecError("model.name: no network '" + name + "'" + suggestion(name, network_names()));
}

}  // namespace

std::span<const std::string> network_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Network& network : networks()) result.push_back(network.name);
    return result;
  }();
  return names;
}

Graph make_network(const std::string& name, int image_size, int outputs) {
  return find_network(name).make(image_size, outputs);
}

WeightDraws weight_draws(const std::string& name) { return find_network(name).draws; }

}  // namespace chexbench::model
