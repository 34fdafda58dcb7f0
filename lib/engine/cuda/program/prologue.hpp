// Finds norms that the convolution after them can compute itself, as relu(scale x + bias), while it reads x.
#pragma once

#include <vector>

#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// Returns for each node the norm that it could compute itself, or -1. The node is a convolution that alone reads the
// output of a batch norm with a ReLU and without a residual or pool. No other node except statistics reads that norm's
// input. All these buffers are read and written as a whole.
std::vector<int> prologue_norms(const Program& program);

}  // namespace chexbench::engine::cuda
