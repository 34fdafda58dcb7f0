#include "model/networks.hpp"

#include <array>

#include "core/errors.hpp"

namespace chexbench::model {
namespace {

struct Network {
  std::string name;
  Graph (*make)(int image_size);
  Fan fan;
};

const std::array<Network, 2>& networks() {
  static const std::array<Network, 2> table{{{"resnet50", resnet50, Fan::out}, {"densenet121", densenet121, Fan::in}}};
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

Graph make_network(const std::string& name, int image_size) { return find_network(name).make(image_size); }

Fan weight_fan(const std::string& name) { return find_network(name).fan; }

}  // namespace chexbench::model
