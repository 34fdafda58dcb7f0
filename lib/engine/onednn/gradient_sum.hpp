// The gradient of a tensor that several ops read is the sum of theirs.
#pragma once

#include <vector>

#include "engine/onednn/division.hpp"
#include "engine/onednn/planner.hpp"

namespace chexbench::engine {

// Adds the gradients from index `keep` on to the first one. Kernels that take two at once keep 2.
inline void sum_gradients(const Device& device, const std::vector<Tensor*>& gradients, std::size_t keep) {
  for (std::size_t i = keep; i < gradients.size(); ++i) {
    const View x = gradients[i]->view(), y = gradients[0]->view();
    const TensorShape& shape = gradients[0]->shape;
    for_all(Division::of(gradients[0]->blocks(), shape.images),
            [&](Work work) { device.kernels->add(x, y, shape.pixels(), work); });
  }
}

}  // namespace chexbench::engine
