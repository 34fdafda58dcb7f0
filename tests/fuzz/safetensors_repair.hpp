// Mutations of safetensors files that keep the length of their header right.
#pragma once

#include <algorithm>
#include <cstring>

#include "fuzz/fuzz.hpp"

namespace chexbench::fuzz {

// Scrambles the file, and sets the header's length so that it ends at the last brace. One in eight stays damaged.
inline void mutate_safetensors(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  constexpr std::size_t kLengthBytes = 8;
  scramble(bytes, most);
  if (seed % 8 == 0 || bytes.size() < kLengthBytes) return;
  const auto brace = std::find(bytes.rbegin(), bytes.rend(), std::byte{'}'});
  const auto end = static_cast<std::uint64_t>(bytes.rend() - brace);
  if (end < kLengthBytes) return;
  const std::uint64_t length = end - kLengthBytes;
  std::memcpy(bytes.data(), &length, sizeof length);
}

}  // namespace chexbench::fuzz
