// The type of activations, matrices and their gradients in each precision.
#pragma once

#include "core/half.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// tf32 is a way to multiply f32 values, which are stored as f32.
inline FloatType element_type(spec::Precision precision) {
  if (precision == spec::Precision::fp16) return FloatType::fp16;
  return precision == spec::Precision::bf16 ? FloatType::bf16 : FloatType::f32;
}

}  // namespace chexbench::engine::cuda
