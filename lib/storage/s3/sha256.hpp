// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) with it, by OpenSSL's libcrypto, for signatures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace chexbench::storage {

using Digest = std::array<std::uint8_t, 32>;

// Both are thread-safe. @throws DataError if libcrypto refuses, for example because of its configuration
Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);

// Returns 64 hexadecimal digits in lower case.
std::string to_hex(const Digest& digest);
// Returns a view of the digest, to be the key of another HMAC.
std::string_view as_text(const Digest& digest);

}  // namespace chexbench::storage
