// The types of floats, and conversions between float32 and the two 16-bit types on the host, where gradients that GPUs
// computed in 16 bits are averaged and checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chexbench {

// The types of floats in memory and between ranks. How a GPU multiplies them is up to spec::Precision.
enum class FloatType { f32, fp16, bf16 };

// Returns the bytes of one element.
constexpr std::size_t bytes_of(FloatType type) { return type == FloatType::f32 ? 4 : 2; }

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
// They select instead of branching, so that the compiler vectorizes loops over them.
inline float to_float(Half value) {
  constexpr float kBiases = 0x1p112f;  // 2^(127 - 15): the difference of the exponents' biases
  const std::uint32_t size = value.bits & 0x7FFFu;
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size << 13) * kBiases);
  const std::uint32_t bits = size >= 0x7C00 ? 0x7F800000 | size << 13 : finite;
  return std::bit_cast<float>((value.bits & 0x8000u) << 16 | bits);
}

inline float to_float(BFloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

inline Half to_half(float value) {
  constexpr float kSubnormalUnit = 0x1p-1f;  // its last bit is worth 2^-24, the smallest positive binary16
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & 0x7FFFFFFF;
  // Drops 13 bits, rounding to nearest, ties to even; a carry into the exponent gives the right result. The exponent's
  // bias goes from 127 to 15.
  const std::uint32_t normal = ((size + 0xFFF + ((size >> 13) & 1)) >> 13) - (112u << 10);
  // The addition does the rounding: the last bits of the sum count multiples of 2^-24.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + kSubnormalUnit) -
                                  std::bit_cast<std::uint32_t>(kSubnormalUnit);
  std::uint32_t half = size < 0x38800000 ? subnormal : normal;  // 2^-14
  half = size >= 0x477FF000 ? 0x7C00 : half;                    // 65520: halfway between the largest, 65504, and 2^16
  half = size > 0x7F800000 ? 0x7E00 : half;                     // not a number
  return {static_cast<std::uint16_t>((bits >> 16 & 0x8000) | half)};
}

inline BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;  // rounding could turn it into infinity
  return {static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40 : rounded)};
}

// Converts arrays in the same way; `from` and `to` must have the same length and must not overlap.
void widen(std::span<const Half> from, std::span<float> to);
void widen(std::span<const BFloat16> from, std::span<float> to);
void narrow(std::span<const float> from, std::span<Half> to);
void narrow(std::span<const float> from, std::span<BFloat16> to);

}  // namespace chexbench
