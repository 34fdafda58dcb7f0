// Chooses the template arguments of an operation from the element type and the alignment of its tensors. F16 and BF16
// are the compiler's half types.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/device_element.cuh"
#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename T>
Rows<T> rows_of(const Matrix& matrix) {
  return {static_cast<T*>(matrix.data), matrix.ld};
}

template <typename Call>
void with_type(ElementType type, const Call& call) {
  switch (type) {
    case ElementType::f32:
      return call.template operator()<float>();
    case ElementType::f16:
      return call.template operator()<F16>();
    case ElementType::bf16:
      return call.template operator()<BF16>();
  }
}

// Returns whether all of `matrices` that exist can be moved in vectors of 16 bytes.
template <typename T, typename... Matrices>
bool vectors_fit(int channels, const Matrices&... matrices) {
  const auto fits = [&](const Matrix& m) {
    return !m.exists() || whole_vectors(m.data, m.ld, channels, kVectorWidth<T>);
  };
  return (fits(matrices) && ...);
}

// Calls call<T, V>(); V is the number of elements that move together: 16 bytes of them if all matrices allow it, else
// 1.
template <typename Call, typename... Matrices>
void with_vectors(ElementType type, int channels, const Call& call, const Matrices&... matrices) {
  with_type(type, [&]<typename T>() {
    if (vectors_fit<T>(channels, matrices...)) {
      call.template operator()<T, kVectorWidth<T>>();
    } else {
      call.template operator()<T, 1>();
    }
  });
}

}  // namespace chexbench::engine::cuda::kernels
