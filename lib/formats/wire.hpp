// A cursor over the fields of a message in protobuf's wire format. It accepts and refuses what protobuf's C++ parser
// (3.21) does; tests/golden/tf_examples.json holds its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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

// How many messages and groups may be within one another, the outermost message not counted.
inline constexpr int kMaxWireDepth = 100;

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

// Walks the fields of one message and never reads past its end. Groups, which proto3 does not write, are passed over.
// It throws nothing: if the message is damaged, it stops and ok() returns false from then on. Not thread-safe.
class WireReader {
 public:
  // `outside` is how many messages this one is in.
  explicit WireReader(std::span<const std::byte> message, int outside = 0) : rest_(message), outside_(outside) {}

  // Returns the next field, or std::nullopt at the end or if the message is damaged.
  std::optional<WireField> next();
  // Returns a varint without a tag, as packed lists hold them, or std::nullopt at the end or if the message is damaged.
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

}  // namespace chexbench::formats
