// CRC-32C (Castagnoli), which is the checksum of TFRecord files, and the way TensorFlow masks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chexbench::formats {

// Returns the CRC-32C of `bytes` (RFC 3720, appendix B.4); that of "123456789" is 0xe3069283. ISA-L computes it if the
// build has that library, else crc32c_plain() does. Thread-safe.
std::uint32_t crc32c(std::span<const std::byte> bytes);

// Returns the same value, computed one byte at a time with a table. This is the plain twin, the reference for tests of
// the fast version. Thread-safe.
std::uint32_t crc32c_plain(std::span<const std::byte> bytes);

// Returns the value that TFRecord files store instead of the CRC itself, because a CRC over data that contains CRCs is
// weak (source: tensorflow/core/lib/hash/crc32c.h).
constexpr std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace chexbench::formats
