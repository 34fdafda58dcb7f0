// Inflates the zlib stream of a PNG, and computes the CRC-32 of its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace chexbench::image {

// Returns why a stream that inflates to `bytes` bytes cannot be inflated in one call, according to the window size in
// its header, or std::nullopt if it can. When the whole output is their window, neither library checks distances
// against a smaller declared window, as libpng does. Writers declare a smaller window if the whole output fits into it,
// and those streams are accepted.
inline std::optional<std::string> refuse_window(std::span<const std::byte> stream, std::size_t bytes) {
  constexpr unsigned kMostBits = 15;
  const unsigned bits = stream.empty() ? kMostBits : std::to_integer<unsigned>(stream.front() >> 4) + 8;
  if (bits > kMostBits) return "invalid window size";
  if (bits < kMostBits && bytes > std::size_t{1} << bits) return "its window is smaller than the image";
  return std::nullopt;
}

// Returns why a stream cannot be inflated in one call: both libraries count bytes in 32 bits.
inline std::optional<std::string> refuse_length(std::size_t compressed_bytes, std::size_t bytes) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (compressed_bytes > kMost || bytes > kMost) return "more than 4 GiB of data";
  return std::nullopt;
}

// Decompresses zlib streams (RFC 1950) of known length. Not thread-safe, because it keeps its state between calls: use
// one per thread.
class Inflater {
 public:
  virtual ~Inflater() = default;
  // Inflates the stream that `pieces` form together, and checks its Adler-32. The stream must fill `out` exactly.
  // Returns std::nullopt on success, or else the reason; the contents of `out` are then undefined.
  virtual std::optional<std::string> inflate(std::span<const std::span<const std::byte>> pieces,
                                             std::span<std::uint8_t> out) = 0;
};

// Returns an inflater by ISA-L if the build has it, or else by zlib. @throws std::bad_alloc if there is no memory left
std::unique_ptr<Inflater> make_inflater();
// Returns an inflater by zlib, as the reference for tests. @throws std::bad_alloc if there is no memory left
std::unique_ptr<Inflater> make_zlib_inflater();

// Returns the CRC-32 that PNG, gzip and zlib use (ISO 3309), by ISA-L if the build has it. Thread-safe.
std::uint32_t png_crc32(std::span<const std::byte> bytes);

}  // namespace chexbench::image
