// Writes the fields of a message in protobuf's wire format, which WireReader (wire.hpp) reads.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/wire.hpp"

namespace chexbench::formats {

inline std::size_t varint_bytes(std::uint64_t value) {
  std::size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// Returns the size of a length-delimited field whose number is below 16: its tag, its length and its payload.
inline std::size_t field_bytes(std::size_t payload) { return 1 + varint_bytes(payload) + payload; }

// Appends fields to `out`, which must outlive it. Not thread-safe.
class WireWriter {
 public:
  explicit WireWriter(std::vector<std::byte>& out) : out_(out) {}

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<std::byte>(value | 0x80));
    out_.push_back(static_cast<std::byte>(value));
  }
  // Writes the tag and the length of a length-delimited field, whose payload is to follow.
  void head(std::uint64_t number, std::size_t payload) {
    tag(number, WireType::length_delimited);
    varint(payload);
  }
  void field(std::uint64_t number, std::span<const std::byte> payload) {
    head(number, payload.size());
    out_.insert(out_.end(), payload.begin(), payload.end());
  }
  void field(std::uint64_t number, std::string_view text) { field(number, std::as_bytes(std::span(text))); }
  void field(std::uint64_t number, std::int64_t value) {
    tag(number, WireType::varint);
    varint(static_cast<std::uint64_t>(value));
  }
  void field(std::uint64_t number, double value) {
    tag(number, WireType::fixed64);
    fixed(std::bit_cast<std::uint64_t>(value), sizeof value);
  }
  void field(std::uint64_t number, float value) {
    tag(number, WireType::fixed32);
    fixed(std::bit_cast<std::uint32_t>(value), sizeof value);
  }

 private:
  void tag(std::uint64_t number, WireType type) { varint(number << 3 | static_cast<std::uint64_t>(type)); }
  void fixed(std::uint64_t bits, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out_.push_back(static_cast<std::byte>(bits >> 8 * i));
  }

  std::vector<std::byte>& out_;
};

}  // namespace chexbench::formats
