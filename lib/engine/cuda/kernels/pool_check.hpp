// Calls that the pools' kernels are not made for.
#pragma once

#include "engine/cuda/kernels/pool_window.hpp"

namespace chexbench::engine::cuda::kernels {

// @throws DeviceError unless windows are 2x2 or 3x3 and none lies wholly in the padding
void check_pool(const PoolShape& shape);

}  // namespace chexbench::engine::cuda::kernels
