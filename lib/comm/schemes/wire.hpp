// Gradients as they go between ranks: f32 as they are, or narrowed to 16 bits (comm.gradient_dtype).
#pragma once

#include <cstddef>
#include <span>

#include "spec/experiment.hpp"

namespace chexbench::comm {

// `wire` holds spec::gradient_bytes(dtype) bytes for each value, of a 16-bit dtype. Narrowing rounds as core/half.hpp.
void pack(std::span<const float> values, spec::GradientDtype dtype, std::span<std::byte> wire);
void unpack(std::span<const std::byte> wire, spec::GradientDtype dtype, std::span<float> values);

}  // namespace chexbench::comm
