#include "engine/cuda/kernels/add.hpp"

#include "engine/cuda/kernels/add_launch.hpp"
#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {

void launch_add(const AddCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Add<T, V> op{rows_of<const T>(call.from), rows_of<T>(call.to)};
        launch_channels(op, call.rows, call.channels, V, stream);
      },
      call.from, call.to);
}

}  // namespace chexbench::engine::cuda::kernels
