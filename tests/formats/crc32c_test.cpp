#include "formats/crc32c.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.hpp"
#include "core/scratch.hpp"

namespace chexbench::formats {
namespace {

using Checksum = std::uint32_t (*)(std::span<const std::byte>);

class Crc32cTest : public testing::TestWithParam<Checksum> {};

TEST_P(Crc32cTest, GivesThePublishedVectors) {
  EXPECT_EQ(GetParam()(as_bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(GetParam()({}), 0u);
  // RFC 3720, B.4
  EXPECT_EQ(GetParam()(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(GetParam()(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43u);
}

TEST_P(Crc32cTest, MasksAsTensorFlowDoes) {
  EXPECT_EQ(mask_crc(GetParam()(as_bytes("123456789"))), 0xc78ab0e5u);
  const auto masked_length = [&](std::uint64_t length) {
    return mask_crc(GetParam()(std::as_bytes(std::span(&length, 1))));
  };
  EXPECT_EQ(masked_length(0), 0x07980329u);
  EXPECT_EQ(masked_length(1), 0x41de7501u);
  EXPECT_EQ(masked_length(100), 0xdf1c5f43u);
}

INSTANTIATE_TEST_SUITE_P(FastAndPlain, Crc32cTest, testing::Values(&crc32c, &crc32c_plain));

TEST(Crc32cTwins, AgreeAtEveryLengthAndAlignment) {
  RandomStream random(7);
  std::vector<std::byte> bytes(5000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  for (std::size_t length = 0; length < 600; ++length) {
    const std::span<const std::byte> part = std::span(bytes).subspan(random.below(64), length);
    ASSERT_EQ(crc32c(part), crc32c_plain(part)) << length;
  }
  EXPECT_EQ(crc32c(bytes), crc32c_plain(bytes));
}

}  // namespace
}  // namespace chexbench::formats
