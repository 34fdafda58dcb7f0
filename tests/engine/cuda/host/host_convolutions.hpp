// What a test may say of the twin's convolutions.
#pragma once

#include <vector>

#include "engine/cuda/conv_pattern.hpp"

namespace chexbench::engine::cuda::host {

// Patterns that no plan is offered for to engines that are made from now on.
std::vector<ConvPattern>& lacking_patterns();

}  // namespace chexbench::engine::cuda::host
