#include "engine/cuda/kernels/norm_pool.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_pool_launch.hpp"
#include "engine/cuda/kernels/pool_check.hpp"

namespace chexbench::engine::cuda::kernels {

void launch_norm_max_pool(const NormPoolCall& call, std::uint8_t* winner, Stream stream) {
  const PoolCall& pool = call.pool;
  check_norm_pool(pool.shape, true);
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
  check_norm_pool(pool.shape, false);
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
