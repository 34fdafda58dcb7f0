// What all users of libcurl here share: owners of its objects, and how it may connect.
#pragma once

#include <curl/curl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "storage/environment.hpp"

namespace chexbench::storage {

struct FreeCurl {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using CurlHandle = std::unique_ptr<CURL, FreeCurl>;
using CurlUrl = std::unique_ptr<CURLU, FreeCurl>;

// Returns a part of a URL; "" if it has no such part. `flags` are those of curl_url_get().
std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0);

// Finds the certificate authorities to trust.

// Returns the file that AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE names, in this order, or else the file in which
// one of the known distributions keeps its authorities; "" if there is none, so that libcurl takes the one it was built
// for. `root` stands for "/" in tests. Thread-safe.
std::string trusted_certificates(const Environment& environment, const std::filesystem::path& root = "/");

}  // namespace chexbench::storage
