#include <isa-l.h>

#include <algorithm>

#include "formats/crc32c.hpp"

namespace chexbench::formats {

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  // ISA-L takes the length as an int, so a larger buffer is passed in pieces, and a non-const pointer, from which it
  // only reads. It neither presets nor inverts the register.
  constexpr std::size_t kPiece = 1u << 30;
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const std::span<const std::byte> piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    auto* const data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    crc = crc32_iscsi(data, static_cast<int>(piece.size()), crc);
  }
  return crc ^ 0xffffffffu;
}

}  // namespace chexbench::formats
