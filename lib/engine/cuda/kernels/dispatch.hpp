// Chooses the template arguments of an operation from the element type and the alignment of its tensors. F16 and BF16
// are the compiler's half types.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/device_element.cuh"
#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename Call>
void with_type(FloatType type, const Call& call) {
  switch (type) {
    case FloatType::f32:
      return call.template operator()<float>();
    case FloatType::fp16:
      return call.template operator()<F16>();
    case FloatType::bf16:
      return call.template operator()<BF16>();
  }
}

// Values by channel, as a matrix with one row.
inline Matrix row_of(const float* values) { return {const_cast<float*>(values), 0}; }

// Return whether a matrix, if it exists, and the arrays of a norm can be moved in vectors of 16 bytes, `width` elements
// of a matrix each.
inline bool vectors_fit(const Matrix& matrix, int channels, int width) {
  return !matrix.exists() || whole_vectors(matrix.data, matrix.ld, channels, width);
}
inline bool vectors_fit(const NormParameters& norm, int channels, int width) {
  return vectors_fit(row_of(norm.mean), channels, width) && vectors_fit(row_of(norm.variance), channels, width) &&
         vectors_fit(row_of(norm.weight), channels, width) && vectors_fit(row_of(norm.bias), channels, width);
}

// Calls call<T, V>(); V is the number of elements that move together: 16 bytes of them if all matrices and norms that
// are moved allow it, else 1.
template <typename Call, typename... Moved>
void with_vectors(FloatType type, int channels, const Call& call, const Moved&... moved) {
  with_type(type, [&]<typename T>() {
    if ((vectors_fit(moved, channels, kVectorWidth<T>) && ...)) {
      call.template operator()<T, kVectorWidth<T>>();
    } else {
      call.template operator()<T, 1>();
    }
  });
}

}  // namespace chexbench::engine::cuda::kernels
