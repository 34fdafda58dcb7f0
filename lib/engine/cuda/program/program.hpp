// The computation of one step on the device: nodes over buffers. Programs are plain data, so they can be made and
// tested without a device.
#pragma once

#include <vector>

namespace chexbench::engine::cuda {

// The feature map of one image, NHWC. On the device, the maps of all images of a batch follow one another.
struct Buffer {
  int channels = 0;  // also the distance between pixels, in elements
  int height = 1;
  int width = 1;

  int pixels() const { return height * width; }
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// Consecutive channels of a buffer: all of them, or the ones that one layer of a dense block adds or reads.
struct Slice {
  int buffer = -1;
  int first_channel = 0;
  int channels = 0;

  bool exists() const { return buffer >= 0; }
  friend bool operator==(const Slice&, const Slice&) = default;
};

// The function that a node computes from `in`.
enum class NodeKind {
  convolution,
  statistics,  // mean and variance of each channel of `in`, kept by channel of the buffer
  normalize,   // out = activation(batch norm(in) + residual), using the statistics of `in`
  bias,        // out = activation(in + bias), after the convolution or linear layer of the same `layer`
  max_pool,
  average_pool,
  global_average_pool,
  adaptive_average_pool,
  dropout,
  copy,    // out = in, where `out` is a part of a dense block (conv_fusions.hpp)
  linear,  // reads all values of an image in the order of `in`: pixel by pixel
};

inline bool is_pool(NodeKind kind) { return kind >= NodeKind::max_pool && kind <= NodeKind::adaptive_average_pool; }

enum class Activation { none, relu, relu6 };

// A pool that a norm also computes.
struct FusedPool {
  NodeKind kind = NodeKind::max_pool;  // or average_pool
  int layer = -1;                      // gives the window

  bool exists() const { return layer >= 0; }
};

// One operation of a step.
struct Node {
  NodeKind kind = NodeKind::convolution;
  int layer = 0;  // index in model::Graph: gives parameters, and the window of convolutions and pools
  Slice in;
  Slice out;       // does not exist for statistics
  Slice residual;  // only for normalize, and optional
  Activation activation = Activation::none;
  FusedPool pool;  // only for normalize without a residual, and optional: `out` is the pool's output
};

// Whether the node computes a max pool, which stores the winning place of each window.
inline bool has_winners(const Node& node) {
  return node.kind == NodeKind::max_pool || (node.pool.exists() && node.pool.kind == NodeKind::max_pool);
}

// Nodes are in the order of forward; backward runs them from last to first. Not changed after the lowering.
struct Program {
  std::vector<Buffer> buffers;
  std::vector<Node> nodes;
  Slice input;   // the images, with padded channels: see lowering.hpp
  Slice logits;  // with padded outputs: see lowering.hpp

  const Buffer& buffer(const Slice& slice) const { return buffers[static_cast<std::size_t>(slice.buffer)]; }
  bool is_whole(const Slice& slice) const { return slice.channels == buffer(slice).channels; }
};

}  // namespace chexbench::engine::cuda
