#include "formats/wire.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/scratch.hpp"

namespace chexbench::formats {
namespace {

WireReader reader_of(std::string_view message) { return WireReader(as_bytes(message)); }

TEST(WireReader, ReadsEachKindOfField) {
  const std::string message = std::string("\x08\x96\x01", 3) + std::string("\x12\x02", 2) + "hi" +
                              std::string("\x19", 1) + "12345678" + std::string("\x25", 1) + "1234";
  WireReader reader = reader_of(message);
  const auto number = reader.next();
  EXPECT_TRUE(number->is(1, WireType::varint));
  EXPECT_EQ(number->value, 150u);  // the example in protobuf's encoding guide
  const auto text = reader.next();
  EXPECT_TRUE(text->is(2, WireType::length_delimited));
  EXPECT_EQ(text->text(), "hi");
  EXPECT_TRUE(reader.next()->is(3, WireType::fixed64));
  EXPECT_EQ(reader.next()->payload.size(), 4u);
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, ReadsTheLargestVarint) {
  const std::string message = std::string(9, '\xff') + "\x01";
  WireReader reader = reader_of(message);
  EXPECT_EQ(reader.next_varint(), ~std::uint64_t{0});
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, StopsAtAVarintWithoutEnd) {
  for (const std::size_t bytes : {1u, 5u, 10u, 11u, 40u}) {
    const std::string message(bytes, '\x80');
    WireReader reader = reader_of(message);
    EXPECT_FALSE(reader.next_varint());
    EXPECT_FALSE(reader.ok());
    EXPECT_FALSE(reader.next_varint());
  }
}

TEST(WireReader, StopsAtALengthBeyondTheMessage) {
  WireReader reader = reader_of("\x12\x05hi");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.ok());
}

TEST(WireReader, StopsAtATagWithoutAValue) {
  for (const char* message : {"\x08", "\x12", "\x19", "\x25"}) {
    WireReader reader = reader_of(message);
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.ok()) << message;
  }
}

TEST(WireReader, PassesOverGroups) {
  WireReader reader = reader_of("\x0b\x13\x08\x01\x14\x0c\x18\x07");
  EXPECT_TRUE(reader.next()->is(3, WireType::varint));
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, RefusesGroupsThatAreDamagedOrTooDeep) {
  for (const std::string& message : {std::string("\x0b"), std::string("\x0b\x14"), std::string("\x0c"),
                                     std::string(kMaxWireDepth + 1, '\x0b') + std::string(kMaxWireDepth + 1, '\x0c')}) {
    WireReader reader = reader_of(message);
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.ok());
  }
}

}  // namespace
}  // namespace chexbench::formats
