// Signs S3 requests with AWS Signature Version 4
// (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). libcurl's own signature (7.88) does not sort
// the query, so listings of more than one page would fail (curl issue 9717).
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chexbench::storage {

// SHA-256 (FIPS 180-4), and HMAC (RFC 2104) based on it, by OpenSSL's libcrypto, for signatures.

using Digest = std::array<std::uint8_t, 32>;

// Both are thread-safe. @throws DataError if libcrypto refuses, for example because of its configuration
Digest sha256(std::string_view text);
Digest hmac_sha256(std::string_view key, std::string_view text);

// Returns 64 hexadecimal digits in lower case.
std::string to_hex(const Digest& digest);
// Returns a view of the digest, to be the key of another HMAC.
std::string_view as_text(const Digest& digest);

// No message repeats any of the three.
struct AwsCredentials {
  std::string access_key;  // empty: there are no credentials, and requests are not signed
  std::string secret_key;
  std::string session_token;  // only temporary credentials have one
};

// The parts of a request that are signed. It is a GET or a HEAD, so it has no body.
struct AwsRequest {
  std::string method = "GET";
  std::string host;                                          // and :port if the URL has one
  std::string path;                                          // percent-encoded once, as in the URL
  std::vector<std::pair<std::string, std::string>> query;    // percent-encoded names and values
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case; without host and x-amz-...
};

// Returns the query as used in the URL and the signature, "name=value&...", sorted by name.
std::string sorted_query(std::vector<std::pair<std::string, std::string>> query);

// Signs requests for the buckets of one region. Thread-safe.
class AwsSigner {
 public:
  AwsSigner(AwsCredentials credentials, std::string region)
      : credentials_(std::move(credentials)), region_(std::move(region)) {}

  bool has_credentials() const { return !credentials_.access_key.empty(); }
  // Returns all headers of the signed request, each as "name: value". `time` is UTC, as in 20130524T000000Z.
  std::vector<std::string> sign(const AwsRequest& request, std::string_view time) const;

 private:
  Digest key_of(std::string_view day) const;

  const AwsCredentials credentials_;
  const std::string region_;
  mutable std::mutex mutex_;
  mutable std::string day_;
  mutable Digest key_{};  // of that day; caching it saves four of the five HMACs of a signature
};

// Returns the current time in the form that AwsSigner needs.
std::string aws_time_now();

}  // namespace chexbench::storage
