#include "storage/growing_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace chexbench::storage {

std::byte* room_behind(ByteBuffer& buffer, std::size_t kept, std::size_t bytes, std::uint64_t most) {
  if (kept + bytes > buffer.capacity()) {
    ByteBuffer larger = buffer.empty_one();
    std::byte* const memory = larger.reserve(std::min<std::uint64_t>(2 * (kept + bytes), most));
    if (kept > 0) std::memcpy(memory, buffer.reserve(0), kept);
    std::swap(buffer, larger);
  }
  return buffer.reserve(0) + kept;
}

}  // namespace chexbench::storage
