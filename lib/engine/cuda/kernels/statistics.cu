#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_launch.hpp"

namespace chexbench::engine::cuda::kernels {

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

}  // namespace chexbench::engine::cuda::kernels
