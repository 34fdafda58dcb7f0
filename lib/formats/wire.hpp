// A cursor over the fields of a message in protobuf's wire format. It accepts and refuses the same messages as
// protobuf's C++ parser (3.21); see tests/golden/tf_examples.json for its answers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace chexbench::formats {

// The numbers of the wire types (source: protobuf's encoding guide).
enum class WireType : std::uint32_t {
  varint = 0,
  fixed64 = 1,
  length_delimited = 2,
  group_begin = 3,
  group_end = 4,
  fixed32 = 5
};

// How deeply messages and groups may be nested, not counting the outermost message.
inline constexpr int kMaxWireDepth = 100;

// One field of a message. `payload` is a view of the bytes of a length-delimited or fixed field; `value` is the number
// of a varint.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;
  std::span<const std::byte> payload;

  bool is(std::uint32_t wanted, WireType kind) const { return number == wanted && type == kind; }
  std::string_view text() const { return {reinterpret_cast<const char*>(payload.data()), payload.size()}; }
};

// Walks the fields of one message and never reads past its end. Groups, which proto3 does not write, are passed over.
// It throws nothing: if the message is damaged, it stops and ok() returns false from then on. Not thread-safe.
class WireReader {
 public:
  // `outside` counts the messages around this one.
  explicit WireReader(std::span<const std::byte> message, int outside = 0) : rest_(message), outside_(outside) {}

  // Returns the next field, or std::nullopt at the end or if the message is damaged.
  std::optional<WireField> next();
  // Returns a varint without a tag, as in packed lists, or std::nullopt at the end or if the message is damaged.
  std::optional<std::uint64_t> next_varint();
  bool ok() const { return ok_; }

 private:
  std::nullopt_t fail();
  std::optional<std::uint32_t> next_tag();
  std::optional<std::uint64_t> next_size();
  std::optional<WireField> read_field(std::uint32_t tag);
  bool pass_group(std::uint32_t begin);

  std::span<const std::byte> rest_;
  const int outside_;
  bool ok_ = true;
};

// Writes the fields of a message in protobuf's wire format, which WireReader reads.

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
  // Writes the tag and the length of a length-delimited field, whose payload must follow.
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
