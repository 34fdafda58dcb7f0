// Memory for bytes whose number only a server has told, which may be a lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/file_bytes.hpp"

namespace chexbench::storage {

// The bytes that are reserved before any has arrived. Above that, memory grows with what arrives.
inline constexpr std::uint64_t kMostTrustedBytes = std::uint64_t{64} << 20;

// Returns room for `bytes` bytes behind the first `kept` ones of the buffer, which stay. If the buffer must grow, it
// grows to twice that, but not beyond `most`, which is at least `kept` + `bytes`.
// @throws std::bad_alloc if the system has no memory left
std::byte* room_behind(ByteBuffer& buffer, std::size_t kept, std::size_t bytes, std::uint64_t most);

}  // namespace chexbench::storage
