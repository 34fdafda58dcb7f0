// The steps of backward, node by node: which gradient each of them reads and where it writes. The memory plan and the
// network's backward read the same list, so they cannot disagree.
#pragma once

#include <vector>

#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// Where a step writes the gradient of a buffer that it reads in forward. A gradient has one place, and a second one
// if several nodes read the buffer. In backward, the first of these nodes writes `gradient` and each other one writes
// `second`; the step that reads the gradient adds both. `second_again` means that the second place is already in use:
// its content must be added to the first place before the step overwrites it. Norms that read the same dense block
// add to one gradient in place instead.
enum class Target { none, gradient, second, second_again };

// A norm that adds a residual before a ReLU, and the norm, without a ReLU, whose result is that residual; -1 for none
// (conv_fusions.hpp).
struct ResidualJoin {
  int norm = -1;
  int residual_norm = -1;

  friend bool operator==(const ResidualJoin&, const ResidualJoin&) = default;
};

struct BackwardStep {
  int node = 0;                    // index in Program::nodes
  Target in = Target::none;        // for the gradient of the node's `in`
  Target residual = Target::none;  // for the gradient of the node's `residual`
  bool two = false;                // the gradient of `out` is the sum of both places
  // For norms of a dense block (kernels/norm_backward.hpp): `lazy` norms add to the block's gradient, except that the
  // one with `first` overwrites it. A lazy statistics node comes after all readers of its channels and turns their sums
  // into the gradient of the values computed there. If these values were copied into the block (conv_fusions.hpp), the
  // copy does so instead, and writes the gradient of its source.
  bool lazy = false;
  bool first = false;
  // For a convolution: the join that its data gradient computes. It reads the first place of its input's gradient, and
  // writes the gradient that passed the join's ReLU to the place `residual` of the gradient of the norm's residual.
  ResidualJoin join = {};
  bool joined = false;  // for a norm: a join has computed its sums, and `residual` has been written
};

// Returns the steps in the order of execution: the program's nodes from last to first, without statistics nodes that
// have nothing to do.
// @throws DeviceError for programs whose gradients would be wrong: several norms share their input with another kind
// of layer; several layers read one concatenation and one of them reads only a part; the last norm of a dense block
// does not read all of it; another norm of a dense block has a pool; a norm of a dense block has a residual or more
// than one reader; or a copy does not go to a dense block
std::vector<BackwardStep> backward_order(const Program& program);

// Returns the order of backward in which each node computes its join in `joins`. `joins` is the result of
// residual_joins() (conv_fusions.hpp), from which the caller may have removed joins or their second norms; or it is
// empty.
// @throws DeviceError like the other overload
std::vector<BackwardStep> backward_order(const Program& program, const std::vector<ResidualJoin>& joins);

}  // namespace chexbench::engine::cuda
