#include "engine/cuda/kernels/pool.hpp"

#include <string>

#include "core/errors.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

[[noreturn]] void refuse(const char* what, const PoolShape& shape, const char* known) {
  throw DeviceError(std::string("no CUDA kernel for ") + what + " of " + std::to_string(shape.kernel) + "x" +
                    std::to_string(shape.kernel) + ", stride " + std::to_string(shape.stride) + ", padding " +
                    std::to_string(shape.padding) + " (" + known + ")");
}

}  // namespace

void check_pool(const PoolShape& shape) {
  const bool known = shape.kernel == 2 || shape.kernel == 3;
  if (known && shape.stride >= 1 && shape.padding >= 0 && 2 * shape.padding <= shape.kernel) return;
  refuse("a pool", shape, "windows: 2x2 and 3x3, padding at most half of it");
}

void check_norm_pool(const PoolShape& shape, bool max) {
  if (max && !norm_takes_max_pool(shape)) refuse("a norm with a max pool", shape, "3x3, stride 2, padding 0 or 1");
  if (!max && !norm_takes_average_pool(shape)) refuse("a norm with an average pool", shape, "2x2, stride 2, padding 0");
}

}  // namespace chexbench::engine::cuda::kernels
