// Test settings of the host twin's convolutions.
#pragma once

#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"

namespace chexbench::engine::cuda::host {

// Patterns for which engines created from now on are offered no plan.
std::vector<ConvPattern>& lacking_patterns();

}  // namespace chexbench::engine::cuda::host
