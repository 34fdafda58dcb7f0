#include "engine/cuda/program/prologue.hpp"

namespace chexbench::engine::cuda {
namespace {

std::size_t index(const Slice& slice) { return static_cast<std::size_t>(slice.buffer); }

bool is_whole(const Program& program, const Slice& slice) { return slice.channels == program.buffer(slice).channels; }

// Returns how many nodes read each buffer. Statistics nodes do not count, because they read a tensor that is stored
// anyway.
std::vector<int> readers_of(const Program& program) {
  std::vector<int> readers(program.buffers.size());
  for (const Node& node : program.nodes) {
    if (node.kind != NodeKind::statistics) ++readers[index(node.in)];
    if (node.residual.exists()) ++readers[index(node.residual)];
  }
  return readers;
}

}  // namespace

std::vector<int> prologue_norms(const Program& program) {
  const std::vector<int> readers = readers_of(program);
  // For each buffer, the norm that could be left to the reader of its output.
  std::vector<int> norm_of(program.buffers.size(), -1);
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (node.kind != NodeKind::normalize || node.activation != Activation::relu || node.residual.exists() ||
        node.pool.exists())
      continue;
    if (readers[index(node.in)] == 1 && readers[index(node.out)] == 1 && is_whole(program, node.in) &&
        is_whole(program, node.out))
      norm_of[index(node.out)] = static_cast<int>(i);
  }
  std::vector<int> norms;
  for (const Node& node : program.nodes) {
    const bool may = node.kind == NodeKind::convolution && is_whole(program, node.out);
    norms.push_back(may ? norm_of[index(node.in)] : -1);
  }
  return norms;
}

}  // namespace chexbench::engine::cuda
