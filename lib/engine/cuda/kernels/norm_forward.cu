#include "engine/cuda/kernels/norm_forward.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, bool kResidual>
void normalize(const NormalizeCall& call, Stream stream) {
  const Normalize<T, V, kResidual> op{rows_of<const T>(call.x), rows_of<const T>(call.residual), rows_of<T>(call.y),
                                      call.norm, call.clamp};
  launch_channels(op, call.rows, call.channels, V, stream);
}

template <typename T>
WriteAffine<T> write_affine(const AffineCall& call) {
  return {call.norm, static_cast<T*>(call.scale), static_cast<T*>(call.shift)};
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

void launch_statistics(const StatisticsCall& call, Stream stream) {
  const StatisticsFinish finish{static_cast<double>(call.rows), call.mean, call.variance, call.inverse_deviation,
                                call.epsilon};
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Statistics<T, V> statistics{rows_of<const T>(call.x)};
        launch_sums(statistics, finish, call.rows, call.channels, call.scratch, stream);
      },
      call.x);
}

void launch_moments(const MomentsOfSums& moments, int channels, Stream stream) {
  launch_calls(moments, channels, stream);
}

void launch_running_update(const RunningUpdate& update, std::int64_t channels, Stream stream) {
  launch_calls(update, channels, stream);
}

void launch_affine(const AffineCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() { launch_calls(write_affine<T>(call), call.channels, stream); });
}

void launch_moments_and_affine(const MomentsOfSums& moments, const AffineCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() {
    launch_calls(MomentsAndAffine<T>{moments, write_affine<T>(call)}, call.channels, stream);
  });
}

}  // namespace chexbench::engine::cuda::kernels
