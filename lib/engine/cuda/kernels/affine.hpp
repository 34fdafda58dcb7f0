// Computes the scale and shift, in the element type, of a batch norm that a convolution fuses in forward.
#pragma once

#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/statistics.hpp"

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

// Computes mean and variance, and then scale and shift of the norm that has them. Called once for each channel.
template <typename T>
struct MomentsAndAffine {
  MomentsOfSums moments;
  WriteAffine<T> affine;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    moments(channel);
    affine(channel);  // reads values that this thread has just written
  }
};

}  // namespace chexbench::engine::cuda::kernels
