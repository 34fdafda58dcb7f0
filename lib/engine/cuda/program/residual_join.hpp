// Finds residual joins that the convolution after them can compute. In forward, it reads the join's inputs, and writes
// the join's result for the other reader. In backward, its data gradient adds the gradient from that reader, passes the
// sum through the join's ReLU, and computes the sums for the backward of the join's norm.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// Returns for each node the join that it could compute; one without a norm if there is none. The node is a convolution
// that with one other node reads the output of a norm that adds a residual before a ReLU. It comes directly after that
// norm in forward, and directly before it in backward. All these buffers are read and written as a whole.
// @throws DeviceError if the engine cannot compute backward (backward_order.hpp)
std::vector<ResidualJoin> residual_joins(const Program& program);

// Whether a convolution, which could compute a join, does so.
using TakesJoin = std::function<bool(const Node& conv)>;

// Returns those of residual_joins() that are taken: as joins of two norms if `of_norms` is true, else as joins of any
// residual if `of_any` is true. The residuals that the joins of `readers` read must be written anyway, so these are
// never joins of two norms; `readers` has a join for each node, or is empty.
// @throws DeviceError if the engine cannot compute backward
std::vector<ResidualJoin> chosen_joins(const Program& program, const TakesJoin& of_any, const TakesJoin& of_norms,
                                       const std::vector<ResidualJoin>& readers);

// Returns the order of backward in which each node computes its join in `joins`. `joins` is the result of
// residual_joins(), from which the caller may have removed joins or their second norms; or it is empty.
// @throws DeviceError if the engine cannot compute backward
std::vector<BackwardStep> backward_order(const Program& program, const std::vector<ResidualJoin>& joins);

}  // namespace chexbench::engine::cuda
