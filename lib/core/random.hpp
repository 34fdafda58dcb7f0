// Random numbers and hashes that are the same on every machine: splitmix64 and FNV-1a. The distributions of <random>
// are not used, because their results differ between standard libraries.
#pragma once

#include <cstdint>
#include <string_view>

namespace chexbench {

// Returns the 64-bit FNV-1a hash of the bytes of `text` (Fowler, Noll, Vo; IETF draft-eastlake-fnv).
constexpr std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

// Returns `z` mixed by the finalizer of splitmix64, a bijection of 64-bit numbers (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// One stream of random numbers (splitmix64). Not thread-safe: give each thread a copy, or a stream with another derived
// seed.
class RandomStream {
 public:
  explicit constexpr RandomStream(std::uint64_t seed) : state_(seed) {}

  // Uniform over all 64-bit numbers.
  constexpr std::uint64_t next() { return mix64(state_ += kStep); }
  // Skips the next `count` numbers, in constant time.
  constexpr void skip(std::uint64_t count) { state_ += count * kStep; }
  // Uniform in [0, 1), made of the top 24 bits of next(), so that every value is exact in float32.
  constexpr double uniform() { return static_cast<double>(next() >> 40) * 0x1p-24; }
  // Uniform in [0, bound), without modulo bias; `bound` must be above 0. It takes one number of the stream, rarely more
  // (Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019).
  constexpr std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ull;  // 2^64 divided by the golden ratio, odd

  std::uint64_t state_;
};

// Returns the seed of an independent sub-stream, e.g. derive_seed(derive_seed(seed, op_index), epoch).
constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t key) {
  return mix64(seed ^ mix64(key + 0x9E3779B97F4A7C15ull));
}

}  // namespace chexbench
