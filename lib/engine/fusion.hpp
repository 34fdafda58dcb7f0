// The decisions of lowering that depend only on the graph, the same for every engine: which layers are merged into the
// node of another one, and which concatenations share a buffer.
#pragma once

#include <functional>
#include <vector>

#include "model/graph.hpp"

namespace chexbench::engine {

// Returns whether a layer of this kind clamps its input (relu, relu6).
bool is_activation(model::LayerKind kind);

// The readers of each layer's output. Layers are indices into graph.layers. Immutable, hence thread-safe.
class Fusion {
 public:
  // `graph` must outlive this object.
  explicit Fusion(const model::Graph& graph);

  const std::vector<int>& readers(int layer) const { return readers_[static_cast<std::size_t>(layer)]; }
  // Returns the only reader of a layer, or -1 if it has none or several.
  int sole_reader(int layer) const;
  // Returns the activation that alone reads a layer, and can therefore be computed with it; -1 if there is none.
  int activation_after(int layer) const;
  // Returns whether the layer is a batch norm that only an add reads, so that it can become part of the add.
  bool is_norm_of_add(int layer) const;

  // An add as one node: batch norm `norm`, plus the output of layer `residual`.
  struct FusedAdd {
    int norm = -1;  // -1 if no input of the add is such a norm
    int residual = -1;
  };
  FusedAdd fuse_add(int add) const;

 private:
  const model::Graph& graph_;
  std::vector<std::vector<int>> readers_;
};

// The place of a layer's output in a dense block: the buffer of concatenation `root`, from a channel on. A
// concatenation whose inputs are the first inputs of a later one lies at the beginning of that one's block (DenseNet:
// each layer reads a prefix of the last concatenation).
struct BlockPlace {
  int root = -1;  // -1: in no block
  int first_channel = 0;
};

// The places of all layers.
struct DenseBlocks {
  std::vector<BlockPlace> places;
  int in_two_blocks = -1;  // a layer that two blocks contain; -1 if there is none
};

// Finds the blocks of the concatenations for which `has_block` is true, from the last layer to the first.
DenseBlocks find_dense_blocks(const model::Graph& graph, const std::function<bool(int)>& has_block);

}  // namespace chexbench::engine
