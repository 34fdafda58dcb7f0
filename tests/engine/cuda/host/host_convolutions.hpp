// Test settings of the host twin's convolutions, and a record of them.
#pragma once

#include <set>
#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"

namespace chexbench::engine::cuda::host {

// Patterns for which engines created from now on are offered no plan.
std::vector<ConvPattern>& lacking_patterns();

// The shapes of the convolutions that ran since this set was cleared.
std::set<ConvShape>& shapes_run();

}  // namespace chexbench::engine::cuda::host
