// Compares conversions with the definition of the formats' bits.
#include "core/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace chexbench {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double half_value(int bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

TEST(HalfTypes, EachFiniteHalfHasItsValueAndComesBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    if (((bits >> 10) & 31) == 31) continue;
    const Half half{static_cast<std::uint16_t>(bits)};
    ASSERT_EQ(static_cast<double>(to_float(half)), half_value(bits)) << bits;
    ASSERT_EQ(to_half(to_float(half)).bits, bits);
  }
}

TEST(HalfTypes, NarrowingToHalfRoundsToNearestTiesToEven) {
  for (int bits = 0; bits < 0x7BFF; ++bits) {
    const double low = half_value(bits), high = half_value(bits + 1), middle = (low + high) / 2;
    const auto even = static_cast<std::uint16_t>(bits % 2 == 0 ? bits : bits + 1);
    const auto at_middle = static_cast<float>(middle);  // exact, since halves have 13 bits less
    ASSERT_EQ(to_half(at_middle).bits, even) << bits;
    ASSERT_EQ(to_half(std::nextafter(at_middle, 0.0f)).bits, bits);
    ASSERT_EQ(to_half(std::nextafter(at_middle, kInfinity)).bits, bits + 1);
    ASSERT_EQ(to_half(-at_middle).bits, even | 0x8000);
  }
}

TEST(HalfTypes, HalfOverflowsToInfinityAndKeepsNan) {
  EXPECT_EQ(to_half(65519.0f).bits, 0x7BFF);
  EXPECT_EQ(to_half(65520.0f).bits, 0x7C00);
  EXPECT_EQ(to_half(-1e30f).bits, 0xFC00);
  EXPECT_EQ(to_float(Half{0x7C00}), kInfinity);
  EXPECT_EQ(to_float(Half{0xFC00}), -kInfinity);
  EXPECT_TRUE(std::isnan(to_float(to_half(std::nanf("")))));
}

TEST(HalfTypes, BFloat16IsTheRoundedUpperHalfOfAFloat) {
  std::mt19937 engine(1);
  for (int i = 0; i < 100000; ++i) {
    const auto bits = static_cast<std::uint32_t>(engine());
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(to_float(to_bfloat16(value))));
      continue;
    }
    const auto low = std::bit_cast<float>(bits & 0xFFFF0000u);
    const auto high = std::bit_cast<float>((bits & 0xFFFF0000u) + 0x10000u);
    const float nearest = to_float(to_bfloat16(value));
    const std::uint32_t rest = bits & 0xFFFF;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (bits & 0x10000) != 0);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(nearest), std::bit_cast<std::uint32_t>(up ? high : low)) << bits;
  }
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::bit_cast<float>(0x7F800001u)))));  // rounding gives infinity
}

TEST(HalfTypes, ManyValuesAtOnceAreWhatEachOneIs) {
  std::mt19937 engine(1);
  std::vector<float> values(1003), widened(values.size());
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
  std::vector<Half> halves(values.size());
  std::vector<BFloat16> bfloats(values.size());
  narrow(values, halves);
  narrow(values, bfloats);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(halves[i].bits, to_half(values[i]).bits) << values[i];
    ASSERT_EQ(bfloats[i].bits, to_bfloat16(values[i]).bits) << values[i];
  }
  const auto expect_widened = [&](const auto& narrowed) {
    widen(narrowed, widened);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(widened[i]), std::bit_cast<std::uint32_t>(to_float(narrowed[i])));
    }
  };
  expect_widened(halves);
  expect_widened(bfloats);
}

}  // namespace
}  // namespace chexbench
