// A cursor over the fields of a message in protobuf's wire format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace chexbench::formats {

// The numbers of the wire types (source: protobuf's encoding guide).
enum class WireType : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

// One field of a message. `payload` holds the bytes of a length-delimited or fixed field, as a view into the message;
// `value` holds the number of a varint.
struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;
  std::span<const std::byte> payload;

  bool is(std::uint32_t wanted, WireType kind) const { return number == wanted && type == kind; }
  std::string_view text() const { return {reinterpret_cast<const char*>(payload.data()), payload.size()}; }
};

// Walks the fields of one message and never reads past its end. It throws nothing: if the message is damaged, it stops
// and ok() returns false from then on. Not thread-safe.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : rest_(message) {}

  // Returns the next field, or std::nullopt at the end or if the message is damaged.
  std::optional<WireField> next();
  // Returns a varint without a tag, as packed lists hold them, or std::nullopt at the end or if the message is damaged.
  std::optional<std::uint64_t> next_varint();
  bool ok() const { return ok_; }

 private:
  bool take(std::uint64_t bytes, std::span<const std::byte>& payload);

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace chexbench::formats
