// Inflating a PNG's zlib stream, and the CRC-32 of its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace chexbench::data {

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

}  // namespace chexbench::data
