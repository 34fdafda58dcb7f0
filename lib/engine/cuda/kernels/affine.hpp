// Computes what a convolution needs from a batch norm that it fuses: in forward the norm's scale and shift, in the
// element type; in backward its inverse deviation.
#pragma once

#include "engine/cuda/kernels/norm_forward.hpp"

namespace chexbench::engine::cuda::kernels {

// Called once for each channel.
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

// Called once for each channel.
struct WriteInverseDeviation {
  const float* variance = nullptr;
  float epsilon = 0;
  float* inverse = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    inverse[channel] = inverse_deviation(variance[channel], epsilon);
  }
};

}  // namespace chexbench::engine::cuda::kernels
