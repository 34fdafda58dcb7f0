// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) over it, of short texts: what a signature needs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace chexbench::storage {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);
std::string to_hex(const Digest& digest);
// The digest as bytes of a text: the key of a further HMAC.
std::string_view as_text(const Digest& digest);

}  // namespace chexbench::storage
