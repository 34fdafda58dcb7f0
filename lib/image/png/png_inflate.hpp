// Inflating a PNG's zlib stream, and the CRC-32 of its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace chexbench::image {

// Why a stream of `bytes` bytes cannot be inflated in one go, by what its header says of its window, or nothing.
// Neither library looks whether a distance stays within a window smaller than what it has of the output, as libpng
// does; writers that declare a smaller one do so where the whole output fits into it.
inline std::optional<std::string> refuse_window(std::span<const std::byte> stream, std::size_t bytes) {
  constexpr unsigned kMostBits = 15;
  const unsigned bits = stream.empty() ? kMostBits : std::to_integer<unsigned>(stream.front() >> 4) + 8;
  if (bits > kMostBits) return "invalid window size";
  if (bits < kMostBits && bytes > std::size_t{1} << bits) return "its window is smaller than the image";
  return std::nullopt;
}

// Decompresses zlib streams (RFC 1950) of known length. Keeps its state between calls, so: one a thread.
class Inflater {
 public:
  virtual ~Inflater() = default;
  // Fills `out` exactly from the stream whose bytes are `pieces`, one after another; its Adler-32 is checked.
  // Nothing on success, else the reason; `out` then holds anything.
  virtual std::optional<std::string> inflate(std::span<const std::span<const std::byte>> pieces,
                                             std::span<std::uint8_t> out) = 0;
};

// By ISA-L where the build has it, else by zlib.
std::unique_ptr<Inflater> make_inflater();
// By zlib: the plain twin.
std::unique_ptr<Inflater> make_zlib_inflater();

// CRC-32 as PNG, gzip and zlib define it (ISO 3309), by ISA-L where the build has it. Thread-safe.
std::uint32_t png_crc32(std::span<const std::byte> bytes);

}  // namespace chexbench::image
