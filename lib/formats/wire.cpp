#include "formats/wire.hpp"

namespace chexbench::formats {

std::optional<std::uint64_t> WireReader::next_varint() {
  if (rest_.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<std::uint64_t>(rest_[i]);
    value |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  ok_ = false;
  rest_ = {};
  return std::nullopt;
}

bool WireReader::take(std::uint64_t bytes, std::span<const std::byte>& payload) {
  if (bytes > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return false;
  }
  payload = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return true;
}

std::optional<WireField> WireReader::next() {
  const std::optional<std::uint64_t> tag = next_varint();
  if (!tag) return std::nullopt;
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  field.type = static_cast<WireType>(*tag & 7);
  std::uint64_t bytes = 0;
  switch (field.type) {
    case WireType::fixed64:
      bytes = 8;
      break;
    case WireType::fixed32:
      bytes = 4;
      break;
    case WireType::varint:
    case WireType::length_delimited: {
      const bool at_end = rest_.empty();
      const std::optional<std::uint64_t> value = next_varint();
      if (at_end || !value) {
        ok_ = false;
        return std::nullopt;
      }
      if (field.type == WireType::varint) {
        field.value = *value;
        return field;
      }
      bytes = *value;
      break;
    }
    default:  // a group, which proto3 never writes, or no wire type at all
      ok_ = false;
      return std::nullopt;
  }
  if (!take(bytes, field.payload)) return std::nullopt;
  return field;
}

}  // namespace chexbench::formats
