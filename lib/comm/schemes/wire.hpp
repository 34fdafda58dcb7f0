// Converts gradients to and from the 16-bit types in which they may be sent between ranks (comm.gradient_dtype).
#pragma once

#include <cstddef>
#include <span>

#include "spec/trial_spec.hpp"

namespace chexbench::comm {

// `dtype` is one of the 16-bit types, and `wire` has spec::gradient_bytes(dtype) bytes per value. Narrowing rounds as
// in core/half.hpp: to nearest, ties to even; values that are too large become infinity. Pure.
void pack(std::span<const float> values, spec::GradientDtype dtype, std::span<std::byte> wire);
void unpack(std::span<const std::byte> wire, spec::GradientDtype dtype, std::span<float> values);

}  // namespace chexbench::comm
