#include "data/png_chunks.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <string_view>

#include "core/errors.hpp"

namespace chexbench::data {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
constexpr std::size_t kChunkOverhead = 12;  // length, type, CRC

std::uint32_t big_endian(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint32_t>(at[i]);
  return value;
}

bool has_signature(std::span<const std::byte> bytes) {
  return bytes.size() >= kSignature.size() && std::memcmp(bytes.data(), kSignature.data(), kSignature.size()) == 0;
}

int channels_of(int color_type) {
  constexpr std::array<int, 7> kChannels = {1, 0, 3, 1, 2, 0, 4};
  return color_type < 7 ? kChannels[static_cast<std::size_t>(color_type)] : 0;
}

}  // namespace

std::optional<PngShape> read_png_shape(std::span<const std::byte> bytes) {
  constexpr std::size_t kHeaderEnd = 8 + 8 + 13;
  if (bytes.size() < kHeaderEnd || !has_signature(bytes) || std::memcmp(bytes.data() + 12, "IHDR", 4) != 0) return {};
  return PngShape{.width = big_endian(bytes.data() + 16),
                  .height = big_endian(bytes.data() + 20),
                  .bit_depth = static_cast<int>(bytes[24]),
                  .channels = channels_of(static_cast<int>(bytes[25]))};
}

void check_png_chunks(std::span<const std::byte> bytes, const std::string& name) {
  const auto fail = [&](std::size_t offset, const std::string& reason) {
    throw DataError(fmt::format("{}: offset {}: {}", name, offset, reason));
  };
  if (bytes.empty()) fail(0, "the file is empty");
  if (!has_signature(bytes)) fail(0, "not a PNG file");
  std::size_t offset = kSignature.size();
  for (;;) {
    const std::size_t left = bytes.size() - offset;
    if (left < kChunkOverhead) fail(offset, "truncated: no IEND chunk");
    const std::byte* const chunk = bytes.data() + offset;
    const std::uint32_t length = big_endian(chunk);
    const std::string type(reinterpret_cast<const char*>(chunk + 4), 4);
    if (left - kChunkOverhead < length) fail(offset, fmt::format("truncated chunk: {} bytes of {}", left, length));
    const uLong crc = ::crc32(0, reinterpret_cast<const Bytef*>(chunk + 4), length + 4);
    if (crc != big_endian(chunk + 8 + length)) fail(offset, fmt::format("the CRC of chunk {} is wrong", type));
    offset += kChunkOverhead + length;
    if (type == "IEND") break;
  }
  if (offset != bytes.size()) fail(offset, "bytes after the end of the image");
}

}  // namespace chexbench::data
