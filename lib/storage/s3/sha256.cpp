#include "storage/s3/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "core/errors.hpp"

namespace chexbench::storage {
namespace {

DataError no_digest(std::string_view function) {
  return DataError(
      fmt::format("libcrypto computes no {}, so S3 requests cannot be signed: check OPENSSL_CONF, and that the library "
                  "is whole",
                  function));
}

}  // namespace

Digest sha256(std::string_view text) {
  Digest digest{};
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw no_digest("SHA-256");
  }
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
  Digest digest{};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), digest.data(), nullptr) ==
      nullptr) {
    throw no_digest("HMAC");
  }
  return digest;
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) text.append({kDigits[byte >> 4], kDigits[byte & 15]});
  return text;
}

std::string_view as_text(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

}  // namespace chexbench::storage
