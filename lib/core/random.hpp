// Random numbers that are the same on every machine: splitmix64 and FNV-1a, no std distributions (their results
// differ between standard libraries).
#pragma once

#include <cstdint>
#include <string_view>

namespace chexbench {

// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC draft-eastlake-fnv).
constexpr std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// One stream of random numbers. Not thread-safe; copy it or derive another seed for another thread.
class RandomStream {
 public:
  explicit constexpr RandomStream(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() { return mix64(state_ += kStep); }
  // Leaves out the next `count` numbers.
  constexpr void skip(std::uint64_t count) { state_ += count * kStep; }
  // Uniform in [0, 1), 24 bits: every value is exact in float32.
  constexpr double uniform() { return static_cast<double>(next() >> 40) * 0x1p-24; }
  // Uniform in [0, bound), bound > 0, without modulo bias (Lemire, "Fast random integer generation in an interval",
  // 2019).
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
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ull;  // the golden ratio

  std::uint64_t state_;
};

// A seed for a sub-stream, e.g. derive_seed(derive_seed(seed, op_index), epoch).
constexpr std::uint64_t derive_seed(std::uint64_t seed, std::uint64_t key) {
  return mix64(seed ^ mix64(key + 0x9E3779B97F4A7C15ull));
}

}  // namespace chexbench
