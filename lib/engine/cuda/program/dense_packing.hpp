// Lets the convolutions that write into dense blocks write packed buffers instead. cuDNN's fused plans need whole
// tensors, so only then can such a convolution compute the norm before it and the statistics of its output.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// Returns the nodes that may be packed, in their order: convolutions that read the output of a norm without a pool,
// write a part of a buffer that several norms read, and are followed by the statistics of their output.
std::vector<int> dense_convolutions(const Program& program);

// Returns the program in which each of these convolutions for which `packs` is true writes a separate buffer, and a
// copy node copies its output to the original place. Everything else stays the same, with the same buffers.
Program with_packed_outputs(const Program& program, const std::function<bool(const Node&)>& packs);

}  // namespace chexbench::engine::cuda
