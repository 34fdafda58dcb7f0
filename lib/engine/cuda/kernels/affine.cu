#include "engine/cuda/kernels/affine.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_launch.hpp"

namespace chexbench::engine::cuda::kernels {

void launch_affine(const AffineCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() {
    launch_calls(WriteAffine<T>{call.norm, static_cast<T*>(call.scale), static_cast<T*>(call.shift)}, call.channels,
                 stream);
  });
}

void launch_inverse_deviation(const NormParameters& norm, int channels, float* inverse, Stream stream) {
  launch_calls(WriteInverseDeviation{norm.variance, norm.epsilon, inverse}, channels, stream);
}

}  // namespace chexbench::engine::cuda::kernels
