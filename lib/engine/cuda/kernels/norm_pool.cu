#include "engine/cuda/kernels/norm_pool.hpp"

#include "core/errors.hpp"
#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_pool_launch.hpp"
#include "engine/cuda/kernels/pool_check.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

void check(bool taken) {
  if (!taken) throw DeviceError("no CUDA kernel for a norm with this pool (pool_check.hpp)");
}

}  // namespace

void launch_norm_max_pool(const NormPoolCall& call, std::uint8_t* winner, Stream stream) {
  const PoolCall& pool = call.pool;
  check(norm_takes_max_pool(pool.shape));
  const Rows<std::uint8_t> winners{winner, pool.channels};
  with_vectors(
      pool.type, pool.channels,
      [&]<typename T, int V>() {
        const MaxPool<T, V, 3, NormedValues<T, V>> op{
            rows_of<const T>(pool.x), rows_of<T>(pool.y), winners, pool.shape, {call.norm, call.clamp}};
        launch_channels(op, pool.images * pool.shape.out_pixels(), pool.channels, V, stream);
      },
      pool.x, pool.y, call.norm);
}

void launch_norm_average_pool(const NormPoolCall& call, Stream stream) {
  const PoolCall& pool = call.pool;
  check(norm_takes_average_pool(pool.shape));
  with_vectors(
      pool.type, pool.channels,
      [&]<typename T, int V>() {
        const AveragePool<T, V, 2, NormedValues<T, V>> op{
            rows_of<const T>(pool.x), rows_of<T>(pool.y), pool.shape, {call.norm, call.clamp}};
        launch_channels(op, pool.images * pool.shape.out_pixels(), pool.channels, V, stream);
      },
      pool.x, pool.y, call.norm);
}

}  // namespace chexbench::engine::cuda::kernels
