// CRC-32C (Castagnoli), the checksum of TFRecord files, and TensorFlow's masking of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace chexbench::formats {

// CRC-32C of `bytes` (RFC 3720, appendix B.4): crc32c("123456789") == 0xe3069283. Thread-safe.
// By ISA-L where the build has it, else by the table.
std::uint32_t crc32c(std::span<const std::byte> bytes);

// The same, one byte at a time from a table: the plain twin.
std::uint32_t crc32c_plain(std::span<const std::byte> bytes);

// What TFRecord files store instead of the CRC itself, so that a CRC over data that holds CRCs stays strong
// (tensorflow/core/lib/hash/crc32c.h).
constexpr std::uint32_t mask_crc(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace chexbench::formats
