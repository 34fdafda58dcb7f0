// Rejects pools that the kernels do not support.
#pragma once

#include "engine/cuda/kernels/pool_window.hpp"

namespace chexbench::engine::cuda::kernels {

// Accepts windows of 2x2 and 3x3 with padding of at most half the window (PyTorch's limit, too).
// @throws DeviceError for any other shape
void check_pool(const PoolShape& shape);

// Returns whether a norm can compute a pool of this shape as well (norm_pool.hpp): a max pool with windows of 3x3,
// stride 2 and a padding of at most 1, or an average pool with windows of 2x2, stride 2 and no padding.
inline bool norm_takes_max_pool(const PoolShape& shape) {
  return shape.kernel == 3 && shape.stride == 2 && (shape.padding == 0 || shape.padding == 1);
}
inline bool norm_takes_average_pool(const PoolShape& shape) {
  return shape.kernel == 2 && shape.stride == 2 && shape.padding == 0;
}

// Checks that, for a max pool if `max` and else for an average pool.
// @throws DeviceError if a norm cannot
void check_norm_pool(const PoolShape& shape, bool max);

}  // namespace chexbench::engine::cuda::kernels
