#include "engine/cuda/kernels/affine.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/norm_launch.hpp"

namespace chexbench::engine::cuda::kernels {

namespace {

template <typename T>
WriteAffine<T> write_affine(const AffineCall& call) {
  return {call.norm, static_cast<T*>(call.scale), static_cast<T*>(call.shift)};
}

}  // namespace

void launch_affine(const AffineCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() { launch_calls(write_affine<T>(call), call.channels, stream); });
}

void launch_moments_and_affine(const MomentsOfSums& moments, const AffineCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() {
    launch_calls(MomentsAndAffine<T>{moments, write_affine<T>(call)}, call.channels, stream);
  });
}

}  // namespace chexbench::engine::cuda::kernels
