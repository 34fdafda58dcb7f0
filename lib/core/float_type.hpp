// The types of floats in memory and between ranks. How a GPU multiplies them is up to spec::Precision.
#pragma once

#include <cstddef>

namespace chexbench {

enum class FloatType { f32, fp16, bf16 };

// Returns the bytes of one element.
constexpr std::size_t bytes_of(FloatType type) { return type == FloatType::f32 ? 4 : 2; }

}  // namespace chexbench
