#include "engine/cuda/program/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "engine/fusion.hpp"

namespace chexbench::engine::cuda {
namespace {

using model::Layer;
using model::LayerKind;

// Turns the layers of one graph into a program, in the graph's order. Layers that are merged into another one's node
// have none themselves.
class Lowering {
 public:
  Lowering(const model::Graph& graph, LoweringOptions options)
      : graph_(graph),
        options_(options),
        fusion_(graph),
        slices_(graph.layers.size()),
        is_pooled_(graph.layers.size()) {
    place_dense_blocks();
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

  [[noreturn]] void refuse(int i, const char* what) const {
    throw DeviceError(
        fmt::format("engine 'cuda' cannot compute layer {} ('{}') of {}: {}; engine 'onednn' computes every network", i,
                    layer(i).name, graph_.name, what));
  }

  // Gives each dense block a buffer, and the layers in it their slices.
  void place_dense_blocks() {
    const DenseBlocks blocks = find_dense_blocks(graph_, [](int) { return true; });
    if (blocks.in_two_blocks >= 0) {
      refuse(blocks.in_two_blocks, "it lies in two concatenations that begin differently");
    }
    for (int i = size() - 1; i >= 0; --i) {
      if (blocks.places[index(i)].root == i) slices_[index(i)] = new_map(i, layer(i).channels);
    }
    for (int i = 0; i < size(); ++i) {
      const auto [root, first_channel] = blocks.places[index(i)];
      if (root >= 0) slices_[index(i)] = {slices_[index(root)].buffer, first_channel, layer(i).channels};
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
    if (options_.frozen || std::ranges::none_of(fusion_.readers(i), normalizes)) return;
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
        if (!fusion_.is_norm_of_add(i)) add_norm(i, {}, i);
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
        if (!program_.is_whole(slices_[index(i)])) refuse(i, "it flattens a part of a concatenation");
        return;
      case LayerKind::dropout:
        return lower_dropout(i);
      case LayerKind::linear:
        return lower_linear(i);
    }
  }

  // Adds convolution i, which reads `in` and whose output is the output of layer `out`: i, or the pool that was moved
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
    const int reader = fusion_.sole_reader(i);
    return conv.kind == LayerKind::convolution && conv.kernel == 1 && conv.stride == 1 && conv.padding == 0 &&
           reader >= 0 && layer(reader).kind == LayerKind::average_pool && layer(reader).padding == 0;
  }

  void lower_pool_and_convolution(int pool) {
    const int conv = input(pool);
    Slice pooled = input_slice(conv);
    if (!is_pooled_[index(pool)]) {
      pooled = new_map(pool, layer(input(conv)).channels);
      add({.kind = NodeKind::average_pool, .layer = pool, .in = input_slice(conv), .out = pooled});
    }
    lower_convolution(conv, pooled, pool);
  }

  void lower_pool(int i, NodeKind kind) {
    if (!is_pooled_[index(i)]) add({.kind = kind, .layer = i, .in = input_slice(i), .out = output(i)});
    add_statistics(i);
  }

  // Merges into norm `node` the pool after layer `last` or its activation, if it can. The slice of that layer is then
  // the pool's output.
  void take_in_pool(Node& node, int last) {
    const int activation = fusion_.activation_after(last), end = activation >= 0 ? activation : last;
    node.pool = pool_after(node.layer, end);
    if (!node.pool.exists()) return;
    const int pool = node.pool.layer;
    is_pooled_[index(pool)] = true;
    slices_[index(end)] = input(pool) == end ? output(pool) : new_map(pool, layer(end).channels);
  }

  // Returns the pool that alone reads the output of layer `last` and that batch norm `norm`, which computes that
  // output, can take in. In a dense block these are only average pools of a norm that alone reads the whole block:
  // backward reaches it before any other norm of the block.
  FusedPool pool_after(int norm, int last) const {
    const int reader = fusion_.sole_reader(last);
    if (!options_.fuses_pools || reader < 0) return {};
    const int pool = waits_for_pool(reader) ? fusion_.sole_reader(reader) : reader;
    const kernels::PoolShape window{
        .kernel = layer(pool).kernel, .stride = layer(pool).stride, .padding = layer(pool).padding};
    const Slice in = input_slice(norm);
    if (!program_.is_whole(in) || fusion_.sole_reader(input(norm)) != norm) return {};
    if (layer(pool).kind == LayerKind::max_pool && kernels::norm_takes_max_pool(window) &&
        layer(input(norm)).kind != LayerKind::concat)
      return {NodeKind::max_pool, pool};
    if (layer(pool).kind == LayerKind::average_pool && kernels::norm_takes_average_pool(window))
      return {NodeKind::average_pool, pool};
    return {};
  }

  void lower_adaptive_pool(int i) {
    const int reader = fusion_.sole_reader(i);
    if (reader < 0 || layer(reader).kind != LayerKind::flatten)
      refuse(i, "an adaptive average pool that is not flattened");
    const Buffer& in = program_.buffer(input_slice(i));
    if (in.height == layer(i).height && in.width == layer(i).width) {
      slices_[index(i)] = input_slice(i);
    } else {
      add({.kind = NodeKind::adaptive_average_pool, .layer = i, .in = input_slice(i), .out = output(i)});
    }
  }

  // Dropout writes to a separate buffer, which is small because the maps were already averaged or flattened.
  void lower_dropout(int i) {
    const Slice in = input_slice(i);
    if (layer(i).pixels() != 1) refuse(i, "dropout of feature maps");
    if (slices_[index(i)].exists()) refuse(i, "dropout within a concatenation");
    slices_[index(i)] = options_.dropout ? new_buffer(program_.buffer(in)) : in;
    if (options_.dropout) add({.kind = NodeKind::dropout, .layer = i, .in = in, .out = slices_[index(i)]});
  }

  // Adds batch norm `norm`, whose output is the output of layer `last`: its own, or that of the add after it.
  void add_norm(int norm, Slice residual, int last) {
    Node node{.kind = NodeKind::normalize, .layer = norm, .in = input_slice(norm), .residual = residual};
    if (!residual.exists()) take_in_pool(node, last);
    add_activated(node, last);
  }

  // Adds `node`, which computes the output of layer `last`, and merges into it an activation that alone reads that
  // output.
  void add_activated(Node node, int last) {
    const int activation = fusion_.activation_after(last);
    if (activation >= 0) {
      node.activation = layer(activation).kind == LayerKind::relu ? Activation::relu : Activation::relu6;
      slices_[index(last)] = output(activation);
    }
    node.out = output(last);
    add(node);
  }

  // One of the two inputs must be a norm, which takes the other input as its residual.
  void lower_add(int i) {
    const auto [norm, residual] = fusion_.fuse_add(i);
    if (norm < 0) refuse(i, "an add without a batch norm before it");
    if (fusion_.is_norm_of_add(residual)) add_norm(residual, {}, residual);
    add_norm(norm, slices_[index(residual)], i);
  }

  const model::Graph& graph_;
  const LoweringOptions options_;
  const Fusion fusion_;
  std::vector<Slice> slices_;    // of each layer's output; does not exist if the layer is merged into another
  std::vector<bool> is_pooled_;  // of each layer, whether it is a pool that a norm has taken in
  Program program_;
};

}  // namespace

LoweringOptions lowering_options(const spec::ModelSpec& model, bool fused) {
  return {.frozen = model.has_frozen_norms(), .dropout = model.dropout, .fuses_pools = fused};
}

Program lower(const model::Graph& graph, LoweringOptions options) { return Lowering(graph, options).run(); }

}  // namespace chexbench::engine::cuda
