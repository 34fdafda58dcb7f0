// Finds what a convolution can compute together with its own passes: the batch norm or the residual join before it, and
// the statistics of its output.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// Returns for each node the norm that it could compute itself, as relu(scale x + bias), while it reads x; or -1. The
// node is a convolution that alone reads the output of a batch norm with a ReLU and without a residual or pool. No
// other node except statistics reads that norm's input. All these buffers are read and written as a whole.
std::vector<int> prologue_norms(const Program& program);

// Returns the nodes that could write a packed buffer instead of a part of a dense block, in their order: convolutions
// that read the output of a norm without a pool, write a part of a buffer that several norms read, and are followed by
// the statistics of their output. cuDNN's fused plans need whole tensors, so only then can such a convolution compute
// the norm before it and these statistics.
std::vector<int> dense_convolutions(const Program& program);

// Returns the program in which each of these convolutions for which `packs` is true writes a separate buffer, and a
// copy node copies its output to the original place. Everything else stays the same, with the same buffers.
Program with_packed_outputs(const Program& program, const std::function<bool(const Node&)>& packs);

// Returns for each node the residual join that it could compute; one without a norm if there is none. In forward, the
// node reads the join's inputs, and writes the join's result for the other reader. In backward, its data gradient adds
// the gradient from that reader, passes the sum through the join's ReLU, and computes the sums for the backward of the
// join's norm. The node is a convolution that with one other node reads the output of a norm that adds a residual
// before a ReLU. It comes directly after that norm in forward, and directly before it in backward. All these buffers
// are read and written as a whole.
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

}  // namespace chexbench::engine::cuda
