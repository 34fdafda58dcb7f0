// Converts between float32 and the two 16-bit float types on the host, where gradients that GPUs computed in 16 bits
// are averaged and checked.
#pragma once

#include <cstdint>
#include <span>

namespace chexbench {

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
struct Half {
  std::uint16_t bits = 0;
};
// bfloat16, the upper 16 bits of an IEEE 754 binary32: 8 bits of exponent, 7 of fraction.
struct BFloat16 {
  std::uint16_t bits = 0;
};

// Widening is exact. Narrowing rounds to nearest, ties to even, as GPUs do; a value that is too large becomes infinity,
// and a NaN stays a NaN (its payload may change). Pure functions, thread-safe.
float to_float(Half value);
float to_float(BFloat16 value);
Half to_half(float value);
BFloat16 to_bfloat16(float value);

// Converts arrays in the same way; `from` and `to` must have the same length and must not overlap.
void widen(std::span<const Half> from, std::span<float> to);
void widen(std::span<const BFloat16> from, std::span<float> to);
void narrow(std::span<const float> from, std::span<Half> to);
void narrow(std::span<const float> from, std::span<BFloat16> to);

}  // namespace chexbench
