#include "engine/cuda/kernels/max_pool.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/pool_check.hpp"
#include "engine/cuda/kernels/pool_launch.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, int K>
void max_pool(const PoolCall& call, const Rows<std::uint8_t>& winner, Stream stream) {
  const MaxPool<T, V, K> op{rows_of<const T>(call.x), rows_of<T>(call.y), winner, call.shape};
  launch_channels(op, call.images * call.shape.out_pixels(), call.channels, V, stream);
}

}  // namespace

void launch_max_pool(const PoolCall& call, std::uint8_t* winner, Stream stream) {
  check_pool(call.shape);
  const Rows<std::uint8_t> winners{winner, call.channels};
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        (call.shape.kernel == 3 ? max_pool<T, V, 3> : max_pool<T, V, 2>)(call, winners, stream);
      },
      call.x, call.y);
}

void launch_max_pool_backward(const PoolCall& call, const std::uint8_t* winner, Stream stream) {
  check_pool(call.shape);
  const Rows<const std::uint8_t> winners{winner, call.channels};
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const MaxPoolBackward<T, V> op{rows_of<const T>(call.y), winners, rows_of<T>(call.x), call.shape};
        launch_channels(op, call.images * call.shape.pixels(), call.channels, V, stream);
      },
      call.x, call.y);
}

}  // namespace chexbench::engine::cuda::kernels
