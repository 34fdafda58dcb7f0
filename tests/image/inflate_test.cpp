// Both inflaters refuse some streams by their header, so that OpenCV decides about them.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>

#include "image/png/png_inflate.hpp"
#include "image/png_builder.hpp"

namespace chexbench::image {
namespace {

// Makes a stream of `bytes` bytes whose header declares a window of 2^(8 + `cinfo`) bytes.
std::optional<std::string> refusal(Inflater& inflater, std::size_t bytes, unsigned cinfo) {
  std::vector<std::uint8_t> stream = test::deflate(std::vector<std::uint8_t>(bytes, 7));
  stream[0] = static_cast<std::uint8_t>(cinfo << 4 | 8);
  stream[1] = static_cast<std::uint8_t>(31 - stream[0] * 256 % 31);
  std::vector<std::uint8_t> out(bytes);
  const std::vector<std::span<const std::byte>> pieces = {{}, std::as_bytes(std::span(stream))};
  return inflater.inflate(pieces, out);
}

TEST(Inflate, RefusesAWindowThatNoStreamMayHave) {
  for (const auto& inflater : {make_inflater(), make_zlib_inflater()}) {
    EXPECT_EQ(refusal(*inflater, 300, 7), std::nullopt);
    for (unsigned cinfo = 8; cinfo < 16; ++cinfo) EXPECT_EQ(refusal(*inflater, 300, cinfo), "invalid window size");
  }
}

TEST(Inflate, RefusesAWindowThatTheImageDoesNotFitInto) {
  for (const auto& inflater : {make_inflater(), make_zlib_inflater()}) {
    EXPECT_EQ(refusal(*inflater, 256, 0), std::nullopt);
    EXPECT_EQ(refusal(*inflater, 257, 0), "its window is smaller than the image");
    EXPECT_EQ(refusal(*inflater, 512, 1), std::nullopt);
    EXPECT_EQ(refusal(*inflater, 513, 1), "its window is smaller than the image");
    EXPECT_EQ(refusal(*inflater, 100'000, 7), std::nullopt);
  }
}

// Cut to 32 bits, the length would be that of the valid stream at the begin.
TEST(Inflate, RefusesMoreThan4GiB) {
  const std::vector<std::uint8_t> stream = test::deflate(std::vector<std::uint8_t>(100, 7));
  const std::size_t bytes = (std::size_t{1} << 32) + stream.size();
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::copy(stream.begin(), stream.end(), static_cast<std::uint8_t*>(memory));
  const std::span<const std::byte> all(static_cast<const std::byte*>(memory), bytes);
  std::vector<std::uint8_t> out(100);
  for (const auto& inflater : {make_inflater(), make_zlib_inflater()}) {
    EXPECT_EQ(inflater->inflate(std::vector{all.first(stream.size())}, out), std::nullopt);
    EXPECT_EQ(inflater->inflate(std::vector{all}, out), "more than 4 GiB of data");
  }
  ::munmap(memory, bytes);
}

}  // namespace
}  // namespace chexbench::image
