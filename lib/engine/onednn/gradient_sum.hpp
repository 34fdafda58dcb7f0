// The gradient of a tensor that several ops read is the sum of theirs.
#pragma once

#include <vector>

#include "engine/onednn/division.hpp"
#include "engine/onednn/planner.hpp"

namespace chexbench::engine {

// Some of a tensor's channels: `blocks` blocks from `first_channel` on.
struct ChannelRange {
  int first_channel = 0;
  int blocks = 0;
};

// Adds the gradients from index `keep` on to the first one. Kernels that take two at once keep 2.
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep,
                          ChannelRange range) {
  for (std::size_t i = keep; i < gradients.size(); ++i) {
    const View x = gradients[i]->view(range.first_channel), y = gradients[0]->view(range.first_channel);
    const TensorShape& shape = gradients[0]->shape;
    const Kernels& kernels_of_type = kernels(device.isa, gradients[0]->type, device.block);
    for_all(Division::of(range.blocks, shape.images),
            [&](Work work) { kernels_of_type.add(x, y, shape.pixels(), work); });
  }
}
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep) {
  sum_gradients(device, gradients, keep, {0, gradients[0]->blocks()});
}

}  // namespace chexbench::engine
