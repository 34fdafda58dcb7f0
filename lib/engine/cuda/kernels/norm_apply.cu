#include "engine/cuda/kernels/norm_gradient.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, bool kMasked, bool kTwo>
void gradient_apply(const NormGradientCall& call, const float* b, const float* c, const Matrix& dx, Stream stream) {
  const GradientApply<T, V, kMasked, kTwo> op{norm_gradient<T>(call, {}), b, c, rows_of<T>(dx)};
  launch_channels(op, call.rows, call.channels, V, stream);
}

}  // namespace

void launch_gradient_apply(const NormGradientCall& call, bool masked, const float* b, const float* c, Matrix dx,
                           Stream stream) {
  const Matrix gradient2 = masked ? Matrix{} : call.gradient2;  // The first pass has added it to `masked`.
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        if (masked) {
          gradient_apply<T, V, true, false>(call, b, c, dx, stream);
        } else {
          (gradient2.exists() ? gradient_apply<T, V, false, true> : gradient_apply<T, V, false, false>)(call, b, c, dx,
                                                                                                        stream);
        }
      },
      call.x, call.gradient, gradient2, dx, row_of(b), row_of(c), call.norm);
}

}  // namespace chexbench::engine::cuda::kernels
