#include "storage/s3/aws_signature.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "core/errors.hpp"

namespace chexbench::storage {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kEmptyBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

Pairs signed_headers(const AwsRequest& request, const AwsCredentials& credentials, std::string_view time) {
  Pairs headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.emplace_back("x-amz-content-sha256", kEmptyBody);
  headers.emplace_back("x-amz-date", time);
  if (!credentials.session_token.empty()) headers.emplace_back("x-amz-security-token", credentials.session_token);
  std::sort(headers.begin(), headers.end());
  return headers;
}

std::string names_of(const Pairs& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names.append(names.empty() ? "" : ";").append(name);
  return names;
}

std::string canonical_request(const AwsRequest& request, const Pairs& headers) {
  std::string text = fmt::format("{}\n{}\n{}\n", request.method, request.path.empty() ? "/" : request.path,
                                 sorted_query(request.query));
  for (const auto& [name, value] : headers) fmt::format_to(std::back_inserter(text), "{}:{}\n", name, value);
  return fmt::format("{}\n{}\n{}", text, names_of(headers), kEmptyBody);
}

}  // namespace

std::string sorted_query(Pairs query) {
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [name, value] : query) {
    fmt::format_to(std::back_inserter(text), "{}{}={}", text.empty() ? "" : "&", name, value);
  }
  return text;
}

Digest AwsSigner::key_of(std::string_view day) const {
  const std::scoped_lock lock(mutex_);
  if (day_ != day) {
    const Digest day_key = hmac_sha256("AWS4" + credentials_.secret_key, day);
    const Digest region_key = hmac_sha256(as_text(day_key), region_);
    const Digest service_key = hmac_sha256(as_text(region_key), "s3");
    key_ = hmac_sha256(as_text(service_key), "aws4_request");
    day_ = day;
  }
  return key_;
}

std::vector<std::string> AwsSigner::sign(const AwsRequest& request, std::string_view time) const {
  const Pairs headers = signed_headers(request, credentials_, time);
  const std::string_view day = time.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", day, region_);
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope, to_hex(sha256(canonical_request(request, headers))));
  std::vector<std::string> lines;
  for (const auto& [name, value] : headers) lines.push_back(fmt::format("{}: {}", name, value));
  lines.push_back(fmt::format("Authorization: AWS4-HMAC-SHA256 Credential={}/{},SignedHeaders={},Signature={}",
                              credentials_.access_key, scope, names_of(headers),
                              to_hex(hmac_sha256(as_text(key_of(day)), to_sign))));
  return lines;
}

std::string aws_time_now() {
  return fmt::format("{:%Y%m%dT%H%M%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

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
