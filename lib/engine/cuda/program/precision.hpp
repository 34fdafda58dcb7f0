// What a precision means on a device: the type of its tensors, and which devices support it.
#pragma once

#include <string>

#include "core/half.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine::cuda {

// Returns the type of activations, matrices and their gradients. tf32 is a way to multiply f32 values, which are stored
// as f32.
inline FloatType element_type(spec::Precision precision) {
  if (precision == spec::Precision::fp16) return FloatType::fp16;
  return precision == spec::Precision::bf16 ? FloatType::bf16 : FloatType::f32;
}

// Checks that a device supports `precision`. `compute_capability` is 90 for 9.0; `device` is its name, for the
// message.
// @throws DeviceError if its tensor cores lack the precision; the message lists those that it supports
void check_precision(spec::Precision precision, int compute_capability, const std::string& device);

}  // namespace chexbench::engine::cuda
