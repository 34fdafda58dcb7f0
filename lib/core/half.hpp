// The two 16-bit float types, on the host: what GPUs compute and send, checked or averaged here.
#pragma once

#include <cstdint>
#include <span>

namespace chexbench {

// IEEE binary16 and the upper half of an IEEE binary32.
struct Half {
  std::uint16_t bits = 0;
};
struct BFloat16 {
  std::uint16_t bits = 0;
};

// Narrowing rounds to nearest, ties to even, as GPUs do; too large becomes infinity; NaN stays NaN.
float to_float(Half value);
float to_float(BFloat16 value);
Half to_half(float value);
BFloat16 to_bfloat16(float value);

// The same for many values; both spans are of one length.
void widen(std::span<const Half> from, std::span<float> to);
void widen(std::span<const BFloat16> from, std::span<float> to);
void narrow(std::span<const float> from, std::span<Half> to);
void narrow(std::span<const float> from, std::span<BFloat16> to);

}  // namespace chexbench
