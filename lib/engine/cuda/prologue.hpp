// Norms that the convolution behind them can compute on its way: relu(scale x + bias) while it reads x.
#pragma once

#include <vector>

#include "engine/cuda/program.hpp"

namespace chexbench::engine::cuda {

// For each node, the norm whose output it alone reads and could compute itself: a convolution behind a batch norm and a
// ReLU without a residual, whose input no other norm reads, all of it packed. -1 for every other node.
std::vector<int> prologue_norms(const Program& program);

}  // namespace chexbench::engine::cuda
