#include "engine/cuda/program/parameter_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "engine/checks.hpp"

namespace chexbench::engine::cuda {
namespace {

using model::ParameterRole;

std::size_t aligned(std::size_t count) { return (count + kParameterAlign - 1) / kParameterAlign * kParameterAlign; }

bool is_matrix(ParameterRole role) {
  return role == ParameterRole::convolution_weight || role == ParameterRole::linear_weight;
}

// Calls move(index in PyTorch's order, index on the device) for each element of the tensor, without padding.
template <typename Move>
void for_elements(const ParameterPlace& place, const Move& move) {
  const std::vector<std::int64_t>& shape = place.parameter.info.shape;
  const std::int64_t outputs = shape[0], window = place.window;
  const std::int64_t inputs = place.parameter.info.count() / (outputs * window);
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t i = 0; i < inputs; ++i) {
      for (std::int64_t w = 0; w < window; ++w) {
        move(static_cast<std::size_t>((o * inputs + i) * window + w),
             static_cast<std::size_t>((o * window + w) * place.inputs + i));
      }
    }
  }
}

}  // namespace

ParameterLayout::ParameterLayout(const model::Graph& graph, const Program& program, spec::Freeze freeze)
    : trains_base_(freeze == spec::Freeze::none) {
  const std::vector<model::Parameter> parameters = model::parameters(graph);
  for (auto node = program.nodes.rbegin(); node != program.nodes.rend(); ++node) {
    if (node->kind != NodeKind::convolution && node->kind != NodeKind::linear && node->kind != NodeKind::normalize)
      continue;
    const model::Layer& layer = graph.layers[static_cast<std::size_t>(node->layer)];
    const int window = node->kind == NodeKind::linear ? program.buffer(node->in).pixels() : layer.kernel * layer.kernel;
    for (const model::Parameter& parameter : parameters) {
      if (parameter.layer == node->layer) add(parameter, *node, window, layer.groups);
    }
    if (trains_base_ || node->layer + 1 == static_cast<int>(graph.layers.size())) std::ranges::copy(sizes_, trained_);
  }
}

void ParameterLayout::add(const model::Parameter& parameter, const Node& node, int window, int groups) {
  ParameterPlace place{.parameter = parameter, .kind = ParameterKind::vector, .outputs = node.out.channels};
  if (is_matrix(parameter.role)) {
    place.kind = ParameterKind::matrix;
    place.inputs = node.in.channels / groups;
    place.window = window;
  }
  place.count = aligned(static_cast<std::size_t>(place.outputs) * static_cast<std::size_t>(place.window) *
                        static_cast<std::size_t>(place.inputs));
  std::size_t& size = sizes_[static_cast<std::size_t>(place.kind)];
  place.offset = size;
  size += place.count;
  places_.push_back(std::move(place));
}

const ParameterPlace& ParameterLayout::place(int layer, ParameterRole role) const {
  const auto found = std::ranges::find_if(places_, [&](const ParameterPlace& place) {
    return place.parameter.layer == layer && place.parameter.role == role;
  });
  if (found == places_.end()) throw DeviceError(fmt::format("engine 'cuda': layer {} lacks a parameter", layer));
  return *found;
}

const ParameterPlace& ParameterLayout::place(const std::string& name) const {
  std::vector<std::string> names;
  for (const ParameterPlace& place : places_) {
    if (place.parameter.info.name == name) return place;
    names.push_back(place.parameter.info.name);
  }
  throw SpecError("no parameter '" + name + "'" + suggestion(name, names));
}

void to_device_order(const ParameterPlace& place, std::span<const float> values, std::span<float> device) {
  check_size(place.parameter.info, values.size());
  std::ranges::fill(device, 0.0f);
  for_elements(place, [&](std::size_t from, std::size_t to) { device[to] = values[from]; });
}

void from_device_order(const ParameterPlace& place, std::span<const float> device, std::span<float> values) {
  check_size(place.parameter.info, values.size());
  for_elements(place, [&](std::size_t to, std::size_t from) { values[to] = device[from]; });
}

}  // namespace chexbench::engine::cuda
