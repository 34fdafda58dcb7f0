#include "engine/cuda/kernels/average_pool.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/pool_check.hpp"
#include "engine/cuda/kernels/pool_launch.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, int K>
void average_pool(const PoolCall& call, Stream stream) {
  const AveragePool<T, V, K> op{rows_of<const T>(call.x), rows_of<T>(call.y), call.shape};
  launch_channels(op, call.images * call.shape.out_pixels(), call.channels, V, stream);
}

}  // namespace

void launch_average_pool(const PoolCall& call, Stream stream) {
  check_pool(call.shape);
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        (call.shape.kernel == 3 ? average_pool<T, V, 3> : average_pool<T, V, 2>)(call, stream);
      },
      call.x, call.y);
}

void launch_average_pool_backward(const PoolCall& call, Stream stream) {
  check_pool(call.shape);
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const AveragePoolBackward<T, V> op{rows_of<const T>(call.y), rows_of<T>(call.x), call.shape};
        launch_channels(op, call.images * call.shape.pixels(), call.channels, V, stream);
      },
      call.x, call.y);
}

void launch_global_average(const PoolCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const GlobalAverage<T, V> op{rows_of<const T>(call.x), rows_of<T>(call.y), call.shape.pixels()};
        launch_channels(op, call.images, call.channels, V, stream);
      },
      call.x, call.y);
}

void launch_global_average_backward(const PoolCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const GlobalAverageBackward<T, V> op{rows_of<const T>(call.y), rows_of<T>(call.x), call.shape.pixels()};
        launch_channels(op, call.images * call.shape.pixels(), call.channels, V, stream);
      },
      call.x, call.y);
}

}  // namespace chexbench::engine::cuda::kernels
