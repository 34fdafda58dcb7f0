#include "engine/cuda/kernels/pool.hpp"

#include "engine/cuda/kernels/average_pool.hpp"
#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/max_pool.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, int K>
void max_pool(const PoolCall& call, const Rows<std::uint8_t>& winner, Stream stream) {
  const MaxPool<T, V, K> op{rows_of<const T>(call.x), rows_of<T>(call.y), winner, call.shape};
  launch_channels(op, call.images * call.shape.out_pixels(), call.channels, V, stream);
}

template <typename T, int V, int K>
void average_pool(const PoolCall& call, Stream stream) {
  const AveragePool<T, V, K> op{rows_of<const T>(call.x), rows_of<T>(call.y), call.shape};
  launch_channels(op, call.images * call.shape.out_pixels(), call.channels, V, stream);
}

// Launches Op<T, V>{from, to, geometry} over `rows` rows: those of the output in forward, those of the input in
// backward.
template <template <typename, int> typename Op, typename Geometry>
void launch_pool(const PoolCall& call, const Matrix& from, const Matrix& to, const Geometry& geometry, int rows,
                 Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Op<T, V> op{rows_of<const T>(from), rows_of<T>(to), geometry};
        launch_channels(op, rows, call.channels, V, stream);
      },
      from, to);
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
  launch_pool<AveragePoolBackward>(call, call.y, call.x, call.shape, call.images * call.shape.pixels(), stream);
}

void launch_global_average(const PoolCall& call, Stream stream) {
  launch_pool<GlobalAverage>(call, call.x, call.y, call.shape.pixels(), call.images, stream);
}

void launch_global_average_backward(const PoolCall& call, Stream stream) {
  const int pixels = call.shape.pixels();
  launch_pool<GlobalAverageBackward>(call, call.y, call.x, pixels, call.images * pixels, stream);
}

void launch_adaptive_average(const PoolCall& call, Stream stream) {
  launch_pool<AdaptiveAverage>(call, call.x, call.y, call.shape, call.images * call.shape.out_pixels(), stream);
}

void launch_adaptive_average_backward(const PoolCall& call, Stream stream) {
  launch_pool<AdaptiveAverageBackward>(call, call.y, call.x, call.shape, call.images * call.shape.pixels(), stream);
}

}  // namespace chexbench::engine::cuda::kernels
