#include "engine/cuda/kernels/copy.hpp"

#include "engine/cuda/kernels/copy_launch.hpp"
#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {

void launch_copy(const CopyCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Copy<T, V> op{rows_of<const T>(call.from), rows_of<T>(call.to)};
        launch_channels(op, call.rows, call.channels, V, stream);
      },
      call.from, call.to);
}

}  // namespace chexbench::engine::cuda::kernels
