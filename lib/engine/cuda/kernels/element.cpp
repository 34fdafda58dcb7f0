#include "engine/cuda/kernels/element.hpp"

#include <bit>
#include <cmath>

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr std::uint32_t kInfinity = 0x7F800000;

// `bits` without its lowest `dropped` ones, to nearest, ties to even. A carry into the exponent is right.
std::uint32_t rounded(std::uint32_t bits, int dropped) {
  const std::uint32_t half = 1u << (dropped - 1);
  return (bits + half - 1 + ((bits >> dropped) & 1)) >> dropped;
}

}  // namespace

float to_float(BFloat16 value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16); }

BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>((bits >> 16) | 0x40)};  // rounding could make it infinity
  return {static_cast<std::uint16_t>(rounded(bits, 16))};
}

float to_float(Half value) {
  const int exponent = (value.bits >> 10) & 31, mantissa = value.bits & 1023;
  float size = 0;
  if (exponent == 31) {
    size = std::bit_cast<float>(kInfinity | static_cast<std::uint32_t>(mantissa) << 13);
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    size = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return (value.bits & 0x8000) != 0 ? -size : size;
}

Half to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000, size = bits & 0x7FFFFFFF;
  std::uint32_t half = 0;
  if (size > kInfinity) {
    half = 0x7E00;
  } else if (std::abs(value) >= 65520.0f) {  // halfway between the largest number and the next power of two
    half = 0x7C00;
  } else if (std::abs(value) < std::ldexp(1.0f, -14)) {  // subnormal: multiples of 2^-24
    half = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::abs(value), 24)));
  } else {
    half = rounded(size, 13) - (112u << 10);  // the exponent's bias is 15 instead of 127
  }
  return {static_cast<std::uint16_t>(sign | half)};
}

}  // namespace chexbench::engine::cuda::kernels
