#include "engine/cuda/kernels/dropout.hpp"

#include "engine/cuda/kernels/dropout_launch.hpp"
#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {

void launch_dropout(const DropoutCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Dropout<T, V> op{rows_of<const T>(call.from),
                               rows_of<T>(call.to),
                               call.scalars,
                               call.seed,
                               call.layer,
                               call.rate,
                               call.pixels,
                               call.batches_of_step};
        launch_channels(op, call.images * call.pixels, call.channels, V, stream);
      },
      call.from, call.to);
}

}  // namespace chexbench::engine::cuda::kernels
