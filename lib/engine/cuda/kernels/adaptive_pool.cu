#include "engine/cuda/kernels/adaptive_pool.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/pool_launch.hpp"

namespace chexbench::engine::cuda::kernels {

void launch_adaptive_average(const PoolCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const AdaptiveAverage<T, V> op{rows_of<const T>(call.x), rows_of<T>(call.y), call.shape};
        launch_channels(op, call.images * call.shape.out_pixels(), call.channels, V, stream);
      },
      call.x, call.y);
}

void launch_adaptive_average_backward(const PoolCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const AdaptiveAverageBackward<T, V> op{rows_of<const T>(call.y), rows_of<T>(call.x), call.shape};
        launch_channels(op, call.images * call.shape.pixels(), call.channels, V, stream);
      },
      call.x, call.y);
}

}  // namespace chexbench::engine::cuda::kernels
