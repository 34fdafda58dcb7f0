#include "engine/cuda/program/dense_packing.hpp"

#include <algorithm>

namespace chexbench::engine::cuda {
namespace {

bool reads_a_norm(const Program& program, const Node& conv) {
  return std::ranges::any_of(program.nodes, [&](const Node& node) {
    return node.kind == NodeKind::normalize && !node.pool.exists() && node.out == conv.in;
  });
}

bool adds_to_a_dense_block(const Program& program, const Slice& out) {
  const auto norms = std::ranges::count_if(program.nodes, [&](const Node& node) {
    return node.kind == NodeKind::normalize && node.in.buffer == out.buffer;
  });
  return norms > 1 && out.channels < program.buffer(out).channels;
}

// Moves the node's output to a new buffer, and returns the node that copies it to the original place.
Node pack(Node& conv, std::vector<Buffer>& buffers) {
  const Slice in_block = conv.out;
  const Buffer& block = buffers[static_cast<std::size_t>(in_block.buffer)];
  const Buffer packed{in_block.channels, block.height, block.width};
  conv.out = {static_cast<int>(buffers.size()), 0, packed.channels};
  buffers.push_back(packed);
  return {.kind = NodeKind::copy, .layer = conv.layer, .in = conv.out, .out = in_block};
}

}  // namespace

std::vector<int> dense_convolutions(const Program& program) {
  std::vector<int> found;
  for (std::size_t i = 0; i + 1 < program.nodes.size(); ++i) {
    const Node &conv = program.nodes[i], &next = program.nodes[i + 1];
    if (conv.kind != NodeKind::convolution || next.kind != NodeKind::statistics || !(next.in == conv.out)) continue;
    if (adds_to_a_dense_block(program, conv.out) && reads_a_norm(program, conv)) found.push_back(static_cast<int>(i));
  }
  return found;
}

Program with_packed_outputs(const Program& program, const std::function<bool(const Node&)>& packs) {
  const std::vector<int> dense = dense_convolutions(program);
  Program packed = program;
  packed.nodes.clear();
  for (int i = 0; i < static_cast<int>(program.nodes.size()); ++i) {
    Node node = program.nodes[static_cast<std::size_t>(i)];
    if (!std::ranges::binary_search(dense, i) || !packs(node)) {
      packed.nodes.push_back(node);
      continue;
    }
    const Node copy = pack(node, packed.buffers);
    packed.nodes.insert(packed.nodes.end(), {node, copy});
  }
  return packed;
}

}  // namespace chexbench::engine::cuda
