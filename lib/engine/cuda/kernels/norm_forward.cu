#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_launch.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, bool kResidual>
void normalize(const NormalizeCall& call, Stream stream) {
  const Normalize<T, V, kResidual> op{rows_of<const T>(call.x), rows_of<const T>(call.residual), rows_of<T>(call.y),
                                      call.norm, call.clamp};
  launch_channels(op, call.rows, call.channels, V, stream);
}

}  // namespace

void launch_normalize(const NormalizeCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        (call.residual.exists() ? normalize<T, V, true> : normalize<T, V, false>)(call, stream);
      },
      call.x, call.residual, call.y, call.norm);
}

}  // namespace chexbench::engine::cuda::kernels
