// Copies activations out of the memory of a network.
#pragma once

#include <vector>

#include "engine/onednn/planner.hpp"

namespace chexbench::engine::onednn {

// Returns the values of the first `images` images of an activation, [images, channels, height, width].
std::vector<float> read_maps(const Tensor& tensor, int images);

}  // namespace chexbench::engine::onednn
