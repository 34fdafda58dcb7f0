// The type of activations, matrices and their gradients in each precision.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/device_tensor.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// tf32 is a way to multiply f32 values, which are stored as f32.
inline kernels::ElementType element_type(spec::Precision precision) {
  if (precision == spec::Precision::fp16) return kernels::ElementType::f16;
  return precision == spec::Precision::bf16 ? kernels::ElementType::bf16 : kernels::ElementType::f32;
}

// Returns the bytes of one element.
inline std::size_t bytes_of(kernels::ElementType type) { return type == kernels::ElementType::f32 ? 4 : 2; }

}  // namespace chexbench::engine::cuda
