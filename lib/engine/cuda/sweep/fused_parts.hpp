// What convolutions compute of the norms beside them in a step, as far as the program decides it: what the engine
// leaves out or launches in another way follows from it.
#pragma once

#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/program/program.hpp"
#include "engine/cuda/program/residual_join.hpp"
#include "model/graph.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// Which step is meant. With `fused`, training.fused is true and every fused plan that the engine knows for the
// precision is taken; without, it is false, so that all passes are separate.
struct StepKind {
  int images = 0;
  spec::Precision precision = spec::Precision::f32;
  bool fused = false;
};

// Returns the program of a training step of that kind, in which dropout drops.
// @throws DeviceError for a network that the engine cannot compute
Program step_program(const model::Graph& graph, const StepKind& kind);

// Keeps references to the graph and the program, which is step_program()'s. Immutable, thread-safe.
class FusedParts {
 public:
  // @throws DeviceError if the engine cannot compute backward
  FusedParts(const model::Graph& graph, const Program& program, const StepKind& kind);

  // Whether a convolution writes the sums from which statistics node i computes mean and variance.
  bool has_output_sums(int i) const;
  // Whether the statistics node i does the work that is left of the norm after it, in the same launch.
  bool writes_affine(int i) const;
  // Whether a data gradient reads the inverse deviation that statistics node i writes.
  bool has_inverse_deviation(int i) const { return inverse_deviations_[static_cast<std::size_t>(i)]; }
  // Whether a convolution computes norm i while it reads its input, alone or in a join.
  bool is_left_out(int norm) const;
  // Whether a data gradient computes the sums of norm i that have no join.
  bool has_gradient_sums(int norm) const { return is_taken(norm, ConvPattern::data_gradient_norm); }
  // The joins that data gradients compute, for backward_order().
  const std::vector<ResidualJoin>& joins() const { return joins_; }

 private:
  const Node& node(int i) const { return program_.nodes[static_cast<std::size_t>(i)]; }
  bool fuses(const Node& conv, ConvPattern pattern) const;
  bool takes(int i, ConvPattern pattern) const;
  bool is_taken(int norm, ConvPattern pattern) const;
  // Whether a join is computed by `pattern`.
  TakesJoin where(ConvPattern pattern) const;
  void mark_statistics_of(int norm);

  const model::Graph& graph_;
  const Program& program_;
  const StepKind kind_;
  const std::vector<int> norms_;  // that each node may compute
  const std::vector<ResidualJoin> joins_, forward_joins_;
  std::vector<bool> inverse_deviations_;
};

}  // namespace chexbench::engine::cuda
