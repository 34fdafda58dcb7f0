// Sums the gradients of a tensor that several ops read: each of these ops computes one of them.
#pragma once

#include <vector>

#include "engine/onednn/division.hpp"
#include "engine/onednn/planner.hpp"

namespace chexbench::engine::onednn {

// A range of a tensor's channels: `blocks` blocks, starting at `first_channel`, which is a multiple of the block size.
struct ChannelRange {
  int first_channel = 0;
  int blocks = 0;
};

// Adds gradients[keep], gradients[keep + 1] and so on to gradients[0], in place. Callers whose kernels read two
// gradients at once pass keep = 2, others 1. The gradients must not be empty, and have the same shape and type.
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep,
                          ChannelRange range) {
  for (std::size_t i = keep; i < gradients.size(); ++i) {
    const View x = gradients[i]->view(range.first_channel), y = gradients[0]->view(range.first_channel);
    const TensorShape& shape = gradients[0]->shape;
    const Kernels& kernels_of_type = kernels(device.isa, gradients[0]->type, device.block);
    for_all(Division::of(range.blocks, shape.images, gradients[0]->layout),
            [&](Work work) { kernels_of_type.add(x, y, shape.pixels(), work); });
  }
}
// The same for all channels.
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep) {
  sum_gradients(device, gradients, keep, {0, gradients[0]->blocks()});
}

}  // namespace chexbench::engine::onednn
