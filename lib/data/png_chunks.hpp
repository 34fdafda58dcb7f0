// The chunks of a PNG file, without decoding: what its header says, and whether every checksum holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace chexbench::data {

// IHDR, as far as it matters here.
struct PngShape {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int bit_depth = 0;
  int channels = 0;  // samples a pixel as stored: 1 gray or palette, 2 gray + alpha, 3 RGB, 4 RGBA
};

// The header of a PNG; nothing where the bytes don't begin as one.
std::optional<PngShape> read_png_shape(std::span<const std::byte> bytes);

// Walks all chunks. @throws DataError naming the file, the offset and the reason: not a PNG, a truncated chunk, a wrong
// CRC, bytes after IEND
void check_png_chunks(std::span<const std::byte> bytes, const std::string& name);

}  // namespace chexbench::data
