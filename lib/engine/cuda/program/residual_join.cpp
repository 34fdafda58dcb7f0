#include "engine/cuda/program/residual_join.hpp"

namespace chexbench::engine::cuda {
namespace {

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
  bool is_whole(const Slice& slice) const { return slice.channels == program_.buffer(slice).channels; }

  bool is_norm(const BackwardStep& step, Activation activation) const {
    const Node& norm = node(step);
    return norm.kind == NodeKind::normalize && !step.lazy && norm.activation == activation && is_whole(norm.in) &&
           is_whole(norm.out);
  }

  // Whether the convolution of step i and the norm of the next step make a join.
  bool joins_at(std::size_t i) const {
    const BackwardStep &conv = steps_[i], &norm = steps_[i + 1];
    if (node(conv).kind != NodeKind::convolution || conv.in != Target::second || !is_whole(node(conv).out))
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
