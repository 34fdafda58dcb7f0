#include "engine/cuda/program/conv_fusions.hpp"

#include <algorithm>

namespace chexbench::engine::cuda {
namespace {

std::size_t index(const Slice& slice) { return static_cast<std::size_t>(slice.buffer); }

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

bool reads_a_norm(const Program& program, const Node& conv) {
  return std::ranges::any_of(program.nodes, [&](const Node& node) {
    return node.kind == NodeKind::normalize && !node.pool.exists() && node.out == conv.in;
  });
}

bool adds_to_a_dense_block(const Program& program, const Slice& out) {
  const auto norms = std::ranges::count_if(program.nodes, [&](const Node& node) {
    return node.kind == NodeKind::normalize && node.in.buffer == out.buffer;
  });
  return norms > 1 && !program.is_whole(out);
}

// Moves the node's output to a new buffer, and returns the node that copies it to the original place.
Node pack(Node& conv, std::vector<Buffer>& buffers) {
  const Slice in_block = conv.out;
  const Buffer& block = buffers[index(in_block)];
  const Buffer packed{in_block.channels, block.height, block.width};
  conv.out = {static_cast<int>(buffers.size()), 0, packed.channels};
  buffers.push_back(packed);
  return {.kind = NodeKind::copy, .layer = conv.layer, .in = conv.out, .out = in_block};
}

class Joins {
 public:
  explicit Joins(const Program& program) : program_(program), steps_(backward_order(program)) {}

  std::vector<ResidualJoin> all() const {
    std::vector<ResidualJoin> joins(program_.nodes.size());
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) {
      if (!joins_at(i)) continue;
      ResidualJoin& join = joins[static_cast<std::size_t>(steps_[i].node)];
      join.norm = steps_[i + 1].node;
      if (has_residual_norm(i)) join.residual_norm = steps_[i + 2].node;
    }
    return joins;
  }

 private:
  const Node& node(const BackwardStep& step) const { return program_.nodes[static_cast<std::size_t>(step.node)]; }

  bool is_norm(const BackwardStep& step, Activation activation) const {
    const Node& norm = node(step);
    return norm.kind == NodeKind::normalize && !step.lazy && norm.activation == activation &&
           program_.is_whole(norm.in) && program_.is_whole(norm.out);
  }

  // Whether the convolution of step i and the norm of the next step make a join.
  bool joins_at(std::size_t i) const {
    const BackwardStep &conv = steps_[i], &norm = steps_[i + 1];
    if (node(conv).kind != NodeKind::convolution || conv.in != Target::second || !program_.is_whole(node(conv).out))
      return false;
    const bool writes_once = norm.residual == Target::gradient || norm.residual == Target::second;
    return is_norm(norm, Activation::relu) && writes_once && node(norm).out == node(conv).in &&
           conv.node == norm.node + 1;
  }

  // Whether the residual of the norm of step i + 1 is the result of the norm of step i + 2, and is not read elsewhere.
  bool has_residual_norm(std::size_t i) const {
    if (i + 2 == steps_.size()) return false;
    const Slice& residual = node(steps_[i + 1]).residual;
    const BackwardStep& norm = steps_[i + 2];
    return is_norm(norm, Activation::none) && !norm.two && !node(norm).residual.exists() && node(norm).out == residual;
  }

  const Program& program_;
  const std::vector<BackwardStep> steps_;
};

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
    if (readers[index(node.in)] == 1 && readers[index(node.out)] == 1 && program.is_whole(node.in) &&
        program.is_whole(node.out))
      norm_of[index(node.out)] = static_cast<int>(i);
  }
  std::vector<int> norms;
  for (const Node& node : program.nodes) {
    const bool may = node.kind == NodeKind::convolution && program.is_whole(node.out);
    norms.push_back(may ? norm_of[index(node.in)] : -1);
  }
  return norms;
}

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

std::vector<ResidualJoin> residual_joins(const Program& program) { return Joins(program).all(); }

std::vector<ResidualJoin> chosen_joins(const Program& program, const TakesJoin& of_any, const TakesJoin& of_norms,
                                       const std::vector<ResidualJoin>& readers) {
  std::vector<ResidualJoin> joins = residual_joins(program);
  for (std::size_t i = 0; i < joins.size(); ++i) {
    if (joins[i].norm < 0) continue;
    const Node& conv = program.nodes[i];
    const bool is_read = !readers.empty() && readers[i].norm >= 0 && readers[i].residual_norm < 0;
    if (joins[i].residual_norm >= 0 && !is_read && of_norms(conv)) continue;
    joins[i].residual_norm = -1;
    if (!of_any(conv)) joins[i] = {};
  }
  return joins;
}

}  // namespace chexbench::engine::cuda
