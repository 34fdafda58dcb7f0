#include "engine/cuda/kernels/pool_check.hpp"

#include <string>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {

void check_pool(const PoolShape& shape) {
  const bool known = shape.kernel == 2 || shape.kernel == 3;
  if (known && shape.stride >= 1 && shape.padding >= 0 && 2 * shape.padding <= shape.kernel) return;
  throw DeviceError("no CUDA kernel for a pool of " + std::to_string(shape.kernel) + "x" +
                    std::to_string(shape.kernel) + ", stride " + std::to_string(shape.stride) + ", padding " +
                    std::to_string(shape.padding) + " (windows: 2x2 and 3x3, padding at most half of it)");
}

}  // namespace chexbench::engine::cuda::kernels
