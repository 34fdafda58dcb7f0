#include "engine/fusion.hpp"

#include <algorithm>
#include <utility>

namespace chexbench::engine {
namespace {

using model::Layer;
using model::LayerKind;

const Layer& layer_of(const model::Graph& graph, int layer) { return graph.layers[static_cast<std::size_t>(layer)]; }

bool begins_with(const std::vector<int>& all, const std::vector<int>& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

}  // namespace

bool is_activation(LayerKind kind) { return kind == LayerKind::relu || kind == LayerKind::relu6; }

Fusion::Fusion(const model::Graph& graph) : graph_(graph), readers_(graph.layers.size()) {
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    for (const int input : graph.layers[i].inputs) {
      readers_[static_cast<std::size_t>(input)].push_back(static_cast<int>(i));
    }
  }
}

int Fusion::sole_reader(int layer) const { return readers(layer).size() == 1 ? readers(layer).front() : -1; }

int Fusion::activation_after(int layer) const {
  const int reader = sole_reader(layer);
  return reader >= 0 && is_activation(layer_of(graph_, reader).kind) ? reader : -1;
}

bool Fusion::is_norm_of_add(int layer) const {
  const int reader = sole_reader(layer);
  return layer_of(graph_, layer).kind == LayerKind::batch_norm && reader >= 0 &&
         layer_of(graph_, reader).kind == LayerKind::add;
}

Fusion::FusedAdd Fusion::fuse_add(int add) const {
  const std::vector<int>& inputs = layer_of(graph_, add).inputs;
  if (is_norm_of_add(inputs[0])) return {.norm = inputs[0], .residual = inputs[1]};
  if (is_norm_of_add(inputs[1])) return {.norm = inputs[1], .residual = inputs[0]};
  return {};
}

DenseBlocks find_dense_blocks(const model::Graph& graph, const std::function<bool(int)>& has_block) {
  DenseBlocks blocks{.places = std::vector<BlockPlace>(graph.layers.size())};
  std::vector<int> roots;
  for (int i = static_cast<int>(graph.layers.size()) - 1; i >= 0; --i) {
    const Layer& concat = layer_of(graph, i);
    if (concat.kind != LayerKind::concat || !has_block(i)) continue;
    const auto root = std::ranges::find_if(
        roots, [&](int other) { return begins_with(layer_of(graph, other).inputs, concat.inputs); });
    blocks.places[static_cast<std::size_t>(i)] = {.root = root == roots.end() ? i : *root, .first_channel = 0};
    if (root != roots.end()) continue;
    roots.push_back(i);
    for (int channel = 0; const int part : concat.inputs) {
      BlockPlace& place = blocks.places[static_cast<std::size_t>(part)];
      if (place.root >= 0) blocks.in_two_blocks = part;
      place = {.root = i, .first_channel = channel};
      channel += layer_of(graph, part).channels;
    }
  }
  return blocks;
}

}  // namespace chexbench::engine
