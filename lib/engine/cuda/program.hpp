// What one step computes on the device: nodes over buffers. Plain data, made and tested without a device.
#pragma once

#include <vector>

namespace chexbench::engine::cuda {

// A feature map of one image, NHWC. The step holds `images` of them, one after another.
struct Buffer {
  int channels = 0;  // also the distance between pixels, in elements
  int height = 1;
  int width = 1;

  int pixels() const { return height * width; }
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// Consecutive channels of a buffer: all of them, or what one layer of a dense block adds or reads.
struct Slice {
  int buffer = -1;
  int first_channel = 0;
  int channels = 0;

  bool exists() const { return buffer >= 0; }
  friend bool operator==(const Slice&, const Slice&) = default;
};

enum class NodeKind {
  convolution,
  statistics,  // mean and variance of each channel of `in`, kept with the buffer
  normalize,   // out = activation(batch norm(in) + residual), by the statistics of `in`
  bias,        // out = activation(in + bias), behind the convolution or linear layer of the same `layer`
  max_pool,
  average_pool,
  global_average_pool,
  adaptive_average_pool,
  dropout,
  linear,  // of all values of an image, which `in` has in its own order: pixel by pixel
};

inline bool is_pool(NodeKind kind) { return kind >= NodeKind::max_pool && kind <= NodeKind::adaptive_average_pool; }

enum class Activation { none, relu, relu6 };

struct Node {
  NodeKind kind = NodeKind::convolution;
  int layer = 0;  // of the model::Graph: its parameters, and the window of convolutions and pools
  Slice in;
  Slice out;       // statistics have none
  Slice residual;  // normalize alone; need not exist
  Activation activation = Activation::none;
};

// Nodes in the order of forward; backward runs them last to first. Immutable once lowered.
struct Program {
  std::vector<Buffer> buffers;
  std::vector<Node> nodes;
  Slice input;
  Slice logits;  // padded: see lowering.hpp

  const Buffer& buffer(const Slice& slice) const { return buffers[static_cast<std::size_t>(slice.buffer)]; }
};

}  // namespace chexbench::engine::cuda
