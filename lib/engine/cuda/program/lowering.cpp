#include "engine/cuda/program/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

using model::Layer;
using model::LayerKind;

bool is_activation(LayerKind kind) { return kind == LayerKind::relu || kind == LayerKind::relu6; }

bool begins_with(const std::vector<int>& all, const std::vector<int>& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

// Turns the layers of one graph into a program, in the graph's order. Layers that are merged into a node have no node
// of their own.
class Lowering {
 public:
  Lowering(const model::Graph& graph, LoweringOptions options)
      : graph_(graph), options_(options), readers_(graph.layers.size()), slices_(graph.layers.size()) {
    for (int i = 0; i < size(); ++i) {
      for (const int input : layer(i).inputs) readers_[index(input)].push_back(i);
    }
    find_dense_blocks();
  }

  Program run() {
    for (int i = 0; i < size(); ++i) lower_layer(i);
    program_.logits = slices_.back();
    return std::move(program_);
  }

 private:
  static std::size_t index(int layer) { return static_cast<std::size_t>(layer); }
  int size() const { return static_cast<int>(graph_.layers.size()); }
  const Layer& layer(int i) const { return graph_.layers[index(i)]; }
  int input(int i) const { return layer(i).inputs.front(); }
  // The only reader of layer i, or -1 if it has none or several.
  int sole_reader(int i) const { return readers_[index(i)].size() == 1 ? readers_[index(i)].front() : -1; }

  [[noreturn]] void refuse(int i, const char* what) const {
    throw DeviceError(
        fmt::format("engine 'cuda' cannot compute layer {} ('{}') of {}: {}; engine 'onednn' computes every network", i,
                    layer(i).name, graph_.name, what));
  }

  // Concatenations that begin with the same inputs share one buffer: each dense layer reads a prefix of the last
  // concatenation.
  void find_dense_blocks() {
    std::vector<int> roots;
    for (int i = size() - 1; i >= 0; --i) {
      if (layer(i).kind != LayerKind::concat) continue;
      const auto root =
          std::ranges::find_if(roots, [&](int other) { return begins_with(layer(other).inputs, layer(i).inputs); });
      if (root != roots.end()) {
        slices_[index(i)] = {slices_[index(*root)].buffer, 0, layer(i).channels};
        continue;
      }
      roots.push_back(i);
      const Slice block = new_map(i, layer(i).channels);
      slices_[index(i)] = block;
      int channel = 0;
      for (const int part : layer(i).inputs) {
        if (slices_[index(part)].exists()) refuse(part, "it lies in two concatenations that begin differently");
        slices_[index(part)] = {block.buffer, channel, layer(part).channels};
        channel += layer(part).channels;
      }
    }
  }

  Slice new_buffer(Buffer buffer) {
    program_.buffers.push_back(buffer);
    return {static_cast<int>(program_.buffers.size()) - 1, 0, buffer.channels};
  }
  Slice new_map(int i, int channels) { return new_buffer({channels, layer(i).height, layer(i).width}); }

  // Returns where layer i's output goes: its place in a dense block, or a new buffer.
  Slice output(int i) {
    Slice& slice = slices_[index(i)];
    if (!slice.exists()) slice = new_map(i, layer(i).channels);
    return slice;
  }

  Slice input_slice(int i) const {
    const Slice slice = slices_[index(input(i))];
    if (!slice.exists()) refuse(i, "it reads what this engine has merged into another layer");
    return slice;
  }

  void add(Node node) { program_.nodes.push_back(node); }

  // Adds a statistics node after the node that writes layer i's output, if batch norms read that output directly or
  // through a concatenation.
  void add_statistics(int i) {
    const auto normalizes = [this](int reader) {
      const LayerKind kind = layer(reader).kind;
      return kind == LayerKind::batch_norm || kind == LayerKind::concat;
    };
    if (options_.frozen || std::ranges::none_of(readers_[index(i)], normalizes)) return;
    add({.kind = NodeKind::statistics, .layer = i, .in = slices_[index(i)]});
  }

  void lower_layer(int i) {
    switch (layer(i).kind) {
      case LayerKind::input:
        slices_[index(i)] = program_.input = new_map(i, kInputChannels);
        return;
      case LayerKind::convolution:
        if (!waits_for_pool(i)) lower_convolution(i, input_slice(i), i);
        return;
      case LayerKind::batch_norm:
        if (!feeds_add(i)) add_norm(i, {}, i);
        return;
      case LayerKind::add:
        return lower_add(i);
      case LayerKind::relu:
      case LayerKind::relu6:
        if (!slices_[index(i)].exists()) refuse(i, "an activation must follow a batch norm, an add or a bias");
        return;
      case LayerKind::concat:
        return;
      case LayerKind::average_pool:
        if (waits_for_pool(input(i))) return lower_pool_and_convolution(i);
        return lower_pool(i, NodeKind::average_pool);
      case LayerKind::max_pool:
        return lower_pool(i, NodeKind::max_pool);
      case LayerKind::global_average_pool:
        return lower_pool(i, NodeKind::global_average_pool);
      case LayerKind::adaptive_average_pool:
        return lower_adaptive_pool(i);
      case LayerKind::flatten:
        slices_[index(i)] = input_slice(i);
        if (slices_[index(i)].channels != program_.buffer(slices_[index(i)]).channels)
          refuse(i, "it flattens a part of a concatenation");
        return;
      case LayerKind::dropout:
        return lower_dropout(i);
      case LayerKind::linear:
        return lower_linear(i);
    }
  }

  // Adds convolution i, which reads `in` and whose output is the output of layer `out`: i, or the pool that went
  // before it.
  void lower_convolution(int i, Slice in, int out) {
    const int groups = layer(i).groups;
    if (groups > 1 && (groups != layer(i).channels || groups != in.channels))
      refuse(i, "a convolution of groups of more than one channel");
    const Slice product = layer(i).bias ? new_map(out, layer(i).channels) : output(out);
    add({.kind = NodeKind::convolution, .layer = i, .in = in, .out = product});
    if (layer(i).bias) add_activated({.kind = NodeKind::bias, .layer = i, .in = product}, out);
    add_statistics(out);
  }

  // The bias of the last linear layer is left to the loss.
  void lower_linear(int i) {
    const bool is_last = i == size() - 1;
    const int channels = (layer(i).channels + kOutputMultiple - 1) / kOutputMultiple * kOutputMultiple;
    if (!is_last && (channels != layer(i).channels || !layer(i).bias))
      refuse(i, "a hidden linear layer without a bias, or whose outputs are no multiple of 8");
    const Slice product = new_buffer({.channels = channels});
    add({.kind = NodeKind::linear, .layer = i, .in = input_slice(i), .out = product});
    if (is_last) {
      slices_[index(i)] = product;
    } else {
      add_activated({.kind = NodeKind::bias, .layer = i, .in = product}, i);
    }
  }

  // Whether layer i is a 1x1 convolution whose only reader is an average pool, so that the pool goes before it.
  bool waits_for_pool(int i) const {
    const Layer& conv = layer(i);
    const int reader = sole_reader(i);
    return conv.kind == LayerKind::convolution && conv.kernel == 1 && conv.stride == 1 && conv.padding == 0 &&
           reader >= 0 && layer(reader).kind == LayerKind::average_pool && layer(reader).padding == 0;
  }

  void lower_pool_and_convolution(int pool) {
    const int conv = input(pool);
    const Slice pooled = new_map(pool, layer(input(conv)).channels);
    add({.kind = NodeKind::average_pool, .layer = pool, .in = input_slice(conv), .out = pooled});
    lower_convolution(conv, pooled, pool);
  }

  void lower_pool(int i, NodeKind kind) {
    add({.kind = kind, .layer = i, .in = input_slice(i), .out = output(i)});
    add_statistics(i);
  }

  void lower_adaptive_pool(int i) {
    const int reader = sole_reader(i);
    if (reader < 0 || layer(reader).kind != LayerKind::flatten)
      refuse(i, "an adaptive average pool that is not flattened");
    const Buffer& in = program_.buffer(input_slice(i));
    if (in.height == layer(i).height && in.width == layer(i).width) {
      slices_[index(i)] = input_slice(i);
    } else {
      add({.kind = NodeKind::adaptive_average_pool, .layer = i, .in = input_slice(i), .out = output(i)});
    }
  }

  // Dropout writes to a buffer of its own, which is small because the maps were averaged or flattened before.
  void lower_dropout(int i) {
    const Slice in = input_slice(i);
    if (layer(i).pixels() != 1) refuse(i, "dropout of feature maps");
    if (slices_[index(i)].exists()) refuse(i, "dropout within a concatenation");
    slices_[index(i)] = options_.dropout ? new_buffer(program_.buffer(in)) : in;
    if (options_.dropout) add({.kind = NodeKind::dropout, .layer = i, .in = in, .out = slices_[index(i)]});
  }

  // Whether layer i is read by an add alone, so that the two may become one node.
  bool feeds_add(int i) const { return sole_reader(i) >= 0 && layer(sole_reader(i)).kind == LayerKind::add; }

  // Adds batch norm `norm`, whose output is the output of layer `last`: its own, or that of the add after it.
  void add_norm(int norm, Slice residual, int last) {
    add_activated({.kind = NodeKind::normalize, .layer = norm, .in = input_slice(norm), .residual = residual}, last);
  }

  // Adds `node`, which computes the output of layer `last`, and merges into it an activation that alone reads that
  // output.
  void add_activated(Node node, int last) {
    const int reader = sole_reader(last);
    if (reader >= 0 && is_activation(layer(reader).kind)) {
      node.activation = layer(reader).kind == LayerKind::relu ? Activation::relu : Activation::relu6;
      slices_[index(last)] = output(reader);
    }
    node.out = output(last);
    add(node);
  }

  // Whether layer i is a batch norm without a node yet, because an add reads it.
  bool is_waiting_norm(int i) const { return layer(i).kind == LayerKind::batch_norm && !slices_[index(i)].exists(); }

  // One of the two inputs must be a norm, which takes the other input as its residual.
  void lower_add(int i) {
    int norm = layer(i).inputs[0], residual = layer(i).inputs[1];
    if (!is_waiting_norm(norm)) std::swap(norm, residual);
    if (!is_waiting_norm(norm)) refuse(i, "an add without a batch norm before it");
    if (is_waiting_norm(residual)) add_norm(residual, {}, residual);
    add_norm(norm, slices_[index(residual)], i);
  }

  const model::Graph& graph_;
  const LoweringOptions options_;
  std::vector<std::vector<int>> readers_;
  std::vector<Slice> slices_;  // of each layer's output; does not exist if the layer is merged into another
  Program program_;
};

}  // namespace

LoweringOptions lowering_options(const spec::ModelSpec& model) {
  return {.frozen = model.batch_norm == spec::BatchNormMode::frozen, .dropout = model.dropout};
}

Program lower(const model::Graph& graph, LoweringOptions options) { return Lowering(graph, options).run(); }

}  // namespace chexbench::engine::cuda
