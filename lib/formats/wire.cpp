#include "formats/wire.hpp"

#include <array>

namespace chexbench::formats {
namespace {

constexpr std::size_t kMostVarintBytes = 10;
constexpr std::size_t kMostTagBytes = 5;  // and of a size; bits beyond 32 in the last one are dropped
constexpr std::uint64_t kMaxSize = 0x7fffffff - 16;

}  // namespace

std::nullopt_t WireReader::fail() {
  ok_ = false;
  rest_ = {};
  return std::nullopt;
}

std::optional<std::uint64_t> WireReader::next_varint() {
  if (rest_.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < kMostVarintBytes; ++i) {
    const auto byte = static_cast<std::uint64_t>(rest_[i]);
    value |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_ = rest_.subspan(i + 1);
      return value;
    }
  }
  return fail();
}

// Returns the next tag, or std::nullopt at the end or if there is none.
std::optional<std::uint32_t> WireReader::next_tag() {
  const std::size_t before = rest_.size();
  const std::optional<std::uint64_t> tag = next_varint();
  if (!tag) return std::nullopt;
  if (before - rest_.size() > kMostTagBytes) return fail();
  const auto low = static_cast<std::uint32_t>(*tag);
  if (low >> 3 == 0) return fail();
  return low;
}

std::optional<std::uint64_t> WireReader::next_size() {
  const std::size_t before = rest_.size();
  const std::optional<std::uint64_t> size = next_varint();
  if (!size || before - rest_.size() > kMostTagBytes || *size > kMaxSize) return fail();
  return size;
}

std::optional<WireField> WireReader::read_field(std::uint32_t tag) {
  WireField field;
  field.number = tag >> 3;
  field.type = static_cast<WireType>(tag & 7);
  std::uint64_t bytes = 0;
  if (field.type == WireType::varint) {
    const std::optional<std::uint64_t> value = next_varint();
    if (!value) return fail();
    field.value = *value;
    return field;
  }
  if (field.type == WireType::length_delimited) {
    const std::optional<std::uint64_t> size = next_size();
    if (!size) return std::nullopt;
    bytes = *size;
  } else if (field.type == WireType::fixed64 || field.type == WireType::fixed32) {
    bytes = field.type == WireType::fixed64 ? 8 : 4;
  } else {  // the end of a group that did not begin, or no wire type at all
    return fail();
  }
  if (bytes > rest_.size()) return fail();
  field.payload = rest_.first(bytes);
  rest_ = rest_.subspan(bytes);
  return field;
}

// Passes over a group and the groups in it. Returns false if it is damaged or nested too deeply.
bool WireReader::pass_group(std::uint32_t begin) {
  std::array<std::uint32_t, kMaxWireDepth> ends;  // the tags that end the enclosing groups
  const auto most = static_cast<std::size_t>(kMaxWireDepth - outside_);
  std::size_t depth = 0;
  const auto pass = [&](std::uint32_t tag) {
    const auto type = static_cast<WireType>(tag & 7);
    if (type == WireType::group_end) return depth > 0 && ends[--depth] == tag;
    if (type != WireType::group_begin) return read_field(tag).has_value();
    if (depth >= most) return false;
    ends[depth++] = tag + 1;
    return true;
  };
  bool passed = pass(begin);
  while (passed && depth > 0) {
    const std::optional<std::uint32_t> tag = next_tag();
    passed = tag && pass(*tag);
  }
  if (!passed) fail();
  return passed;
}

std::optional<WireField> WireReader::next() {
  while (const std::optional<std::uint32_t> tag = next_tag()) {
    if (static_cast<WireType>(*tag & 7) != WireType::group_begin) return read_field(*tag);
    if (!pass_group(*tag)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace chexbench::formats
