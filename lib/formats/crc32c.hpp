// CRC-32C (Castagnoli), which is the checksum of TFRecord files, and the way TensorFlow masks it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chexbench::formats {

// Returns the CRC-32C of `bytes` (RFC 3720, appendix B.4); that of "123456789" is 0xe3069283. ISA-L computes it if the
// build has that library, else crc32c_plain() does. Thread-safe.
std::uint32_t crc32c(std::span<const std::byte> bytes);

// The remainders of all bytes.
inline constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ ((remainder & 1u) != 0 ? 0x82f63b78u : 0u);
    table[byte] = remainder;
  }
  return table;
}();

// Returns the same value, computed one byte at a time with a table. This is the plain twin, the reference for tests of
// the fast version. Thread-safe.
inline std::uint32_t crc32c_plain(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xffu];
  return crc ^ 0xffffffffu;
}

// Returns the value that TFRecord files store instead of the CRC itself, because a CRC over data that contains CRCs is
// weak (source: tensorflow/core/lib/hash/crc32c.h).
constexpr std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace chexbench::formats
