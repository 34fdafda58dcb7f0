// Rejects pools that the kernels do not support.
#pragma once

#include "engine/cuda/kernels/pool_window.hpp"

namespace chexbench::engine::cuda::kernels {

// Accepts windows of 2x2 and 3x3 with padding of at most half the window (PyTorch's limit, too).
// @throws DeviceError for any other shape
void check_pool(const PoolShape& shape);

}  // namespace chexbench::engine::cuda::kernels
