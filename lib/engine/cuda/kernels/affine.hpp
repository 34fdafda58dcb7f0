// A norm as the scale and the shift that a convolution takes in front of it, in its element type.
#pragma once

#include "engine/cuda/kernels/norm_forward.hpp"

namespace chexbench::engine::cuda::kernels {

// One call for each channel.
template <typename T>
struct WriteAffine {
  NormParameters norm;
  T* scale = nullptr;
  T* shift = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    const Affine<1> affine(norm, static_cast<int>(channel));
    scale[channel] = Element<T>::narrow(affine.scale[0]);
    shift[channel] = Element<T>::narrow(affine.shift[0]);
  }
};

}  // namespace chexbench::engine::cuda::kernels
