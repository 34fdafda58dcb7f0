#include "core/half.hpp"

#include <bit>
#include <cstddef>

namespace chexbench {
namespace {

// The conversions use integer and float arithmetic that selects instead of branching, so that the compiler vectorizes
// the loops below.

constexpr std::uint32_t kInfinity = 0x7F800000;
constexpr float kBiases = 0x1p112f;        // 2^(127 - 15): the difference of the exponents' biases
constexpr float kSubnormalUnit = 0x1p-1f;  // its last bit is worth 2^-24, the smallest positive binary16

float half_value(std::uint16_t half) {
  const std::uint32_t size = half & 0x7FFFu;
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size << 13) * kBiases);
  const std::uint32_t bits = size >= 0x7C00 ? kInfinity | size << 13 : finite;
  return std::bit_cast<float>((half & 0x8000u) << 16 | bits);
}

std::uint16_t half_bits(float value) {
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
  half = size > kInfinity ? 0x7E00 : half;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | half);
}

float bfloat16_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t bfloat16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFF) > kInfinity;  // rounding could turn it into infinity
  return static_cast<std::uint16_t>(is_nan ? bits >> 16 | 0x40 : rounded);
}

}  // namespace

float to_float(Half value) { return half_value(value.bits); }
float to_float(BFloat16 value) { return bfloat16_value(value.bits); }
Half to_half(float value) { return {half_bits(value)}; }
BFloat16 to_bfloat16(float value) { return {bfloat16_bits(value)}; }

void widen(std::span<const Half> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = half_value(from[i].bits);
}
void widen(std::span<const BFloat16> from, std::span<float> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = bfloat16_value(from[i].bits);
}
void narrow(std::span<const float> from, std::span<Half> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].bits = half_bits(from[i]);
}
void narrow(std::span<const float> from, std::span<BFloat16> to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i].bits = bfloat16_bits(from[i]);
}

}  // namespace chexbench
