#include "engine/cuda/kernels/norm_gradient.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, bool kOutput, bool kTwo>
void gradient_sums(const NormGradientCall& call, const Matrix& output, const Matrix& masked, const NormSums& sums,
                   Stream stream) {
  const GradientSums<T, V, kOutput, kTwo> op{norm_gradient<T>(call, output), rows_of<T>(masked)};
  launch_sums(op, gradient_finish(call, sums, false), call.rows, call.channels, sums.scratch, stream);
}

}  // namespace

void launch_gradient_sums(const NormGradientCall& call, Matrix output, Matrix masked, const NormSums& sums,
                          Stream stream) {
  const bool two = call.gradient2.exists();
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        if (output.exists()) {
          (two ? gradient_sums<T, V, true, true> : gradient_sums<T, V, true, false>)(call, output, masked, sums,
                                                                                     stream);
        } else {
          (two ? gradient_sums<T, V, false, true> : gradient_sums<T, V, false, false>)(call, output, masked, sums,
                                                                                       stream);
        }
      },
      call.x, call.gradient, call.gradient2, output, masked, call.norm);
}

}  // namespace chexbench::engine::cuda::kernels
