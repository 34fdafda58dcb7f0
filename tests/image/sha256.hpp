// SHA-256 (FIPS 180-4), to compare pixels with golden digests.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace chexbench::image::test {

// Returns the first 32 bits of the fractions of prime^exponent for the first primes, by which the standard defines its
// constants.
template <std::size_t kCount>
std::array<std::uint32_t, kCount> root_fractions(long double exponent) {
  std::array<std::uint32_t, kCount> words{};
  int candidate = 2;
  for (std::uint32_t& word : words) {
    const auto divides = [&](int d) { return candidate % d == 0; };
    for (bool prime = false; !prime; ++candidate) {
      prime = true;
      for (int d = 2; d * d <= candidate; ++d) prime = prime && !divides(d);
      if (prime) {
        const long double root = std::pow(static_cast<long double>(candidate), exponent);
        word = static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
      }
    }
  }
  return words;
}

inline std::string sha256_hex(std::vector<std::uint8_t> message) {
  static const auto kRounds = root_fractions<64>(1.0L / 3.0L);
  std::array<std::uint32_t, 8> state = root_fractions<8>(0.5L);
  const std::uint64_t bits = std::uint64_t{message.size()} * 8;
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<std::uint8_t>(bits >> shift));

  for (std::size_t block = 0; block < message.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) w[i / 4] = (w[i / 4] << 8) | message[block + i];
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
      const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> working = {a, b, c, d, e, f, g, h};
    std::transform(state.begin(), state.end(), working.begin(), state.begin(), std::plus<>());
  }
  std::string hex;
  for (const std::uint32_t word : state) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", word);
    hex += digits.data();
  }
  return hex;
}

}  // namespace chexbench::image::test
