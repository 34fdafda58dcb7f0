#include "engine/cuda/program/backward_order.hpp"

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

// How many nodes read a buffer, without statistics.
struct Readers {
  int norms = 0;
  int others = 0;
  int parts = 0;  // readers of both kinds that read only a part of it
};

// Walks the program from last to first and collects the steps.
class Order {
 public:
  explicit Order(const Program& program)
      : program_(program), readers_(program.buffers.size()), written_(program.buffers.size()) {
    for (const Node& node : program.nodes) {
      if (node.kind == NodeKind::statistics) continue;
      count(node.in, node.kind == NodeKind::normalize ? &Readers::norms : &Readers::others);
      if (node.residual.exists()) count(node.residual, &Readers::others);
    }
    for (const Node& node : program.nodes) refuse_unknown(node);
    written_[index(program.logits)] = 1;  // the loss writes it
    for (int i = static_cast<int>(program.nodes.size()) - 1; i >= 0; --i) add(i);
  }

  std::vector<BackwardStep> steps;

 private:
  static std::size_t index(const Slice& slice) { return static_cast<std::size_t>(slice.buffer); }
  bool is_dense(const Slice& slice) const { return readers_[index(slice)].norms > 1; }

  void count(const Slice& slice, int Readers::*kind) {
    Readers& readers = readers_[index(slice)];
    ++(readers.*kind);
    readers.parts += !program_.is_whole(slice);
  }

  // A gradient is tracked for a whole buffer, so the buffer's readers must read all of it, or be norms that accumulate.
  void refuse_unknown(const Node& node) const {
    if (node.kind == NodeKind::statistics) return;
    const Readers& readers = readers_[index(node.out)];
    if (readers.norms > 1 && readers.others > 0)
      throw DeviceError("engine 'cuda' cannot compute a network whose batch norms share their input with other layers");
    if (readers.parts > 0 && readers.others > 0 && readers.norms + readers.others > 1)
      throw DeviceError(
          "engine 'cuda' cannot compute a network with a concatenation that several layers read in parts");
  }

  void add(int i) {
    const Node& node = program_.nodes[static_cast<std::size_t>(i)];
    if (node.kind == NodeKind::statistics) {
      if (is_dense(node.in) && !follows_copy(i)) steps.push_back({.node = i, .lazy = true});
      return;
    }
    BackwardStep step{.node = i, .two = !is_dense(node.out) && written_[index(node.out)] > 1};
    if (node.kind == NodeKind::normalize && is_dense(node.in)) {
      add_dense(node, step);
    } else if (node.kind == NodeKind::copy) {
      add_copy(node, step);
    } else {
      step.residual = target(node.residual);
      if (node.in.buffer != program_.input.buffer) step.in = target(node.in);
    }
    steps.push_back(step);
  }

  void add_dense(const Node& node, BackwardStep& step) {
    step.lazy = true;
    step.in = Target::gradient;
    step.first = written_[index(node.in)]++ == 0;
    if (step.two || node.residual.exists() || (node.pool.exists() && !step.first) ||
        (step.first && !program_.is_whole(node.in)))
      throw DeviceError("engine 'cuda' cannot compute this kind of dense block");
  }

  bool follows_copy(int i) const {
    return i > 0 && program_.nodes[static_cast<std::size_t>(i) - 1].kind == NodeKind::copy;
  }

  void add_copy(const Node& node, BackwardStep& step) {
    if (!is_dense(node.out)) throw DeviceError("engine 'cuda' cannot compute a copy to anything but a dense block");
    step.lazy = true;
    step.in = target(node.in);
  }

  Target target(const Slice& slice) {
    if (!slice.exists()) return Target::none;
    const int before = written_[index(slice)]++;
    return before == 0 ? Target::gradient : before == 1 ? Target::second : Target::second_again;
  }

  const Program& program_;
  std::vector<Readers> readers_;  // of each buffer
  std::vector<int> written_;      // how often each buffer's gradient was written so far
};

}  // namespace

std::vector<BackwardStep> backward_order(const Program& program) { return Order(program).steps; }

std::vector<BackwardStep> backward_order(const Program& program, const std::vector<ResidualJoin>& joins) {
  std::vector<BackwardStep> steps = backward_order(program);
  if (joins.empty()) return steps;
  for (auto conv = steps.begin(); conv != steps.end(); ++conv) {
    conv->join = joins[static_cast<std::size_t>(conv->node)];
    if (conv->join.norm < 0) continue;
    BackwardStep& norm = *(conv + 1);
    conv->in = Target::none;
    conv->residual = norm.residual;
    norm.two = false;
    norm.joined = true;
    if (conv->join.residual_norm >= 0) (conv + 2)->joined = true;
  }
  return steps;
}

}  // namespace chexbench::engine::cuda
