// Parts of the client over libcurl: owners of its objects, the certificates that it trusts, and the redirects that it
// follows.
#pragma once

#include <curl/curl.h>

#include <filesystem>
#include <memory>
#include <string>

#include "spec/trial_spec.hpp"
#include "storage/http/http_client.hpp"

namespace chexbench::storage {

struct FreeCurl {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using CurlHandle = std::unique_ptr<CURL, FreeCurl>;
using CurlUrl = std::unique_ptr<CURLU, FreeCurl>;

// Returns a part of a URL; "" if it has no such part. `flags` are those of curl_url_get().
std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0);

// Returns the file that AWS_CA_BUNDLE, CURL_CA_BUNDLE or SSL_CERT_FILE names, in this order, or else the file in which
// one of the known distributions keeps its authorities; "" if there is none, so that libcurl takes the one it was built
// for. `root` stands for "/" in tests. Thread-safe.
std::string trusted_certificates(const Environment& environment, const std::filesystem::path& root = "/");

// Returns true if both URLs have the same scheme, host and port, so that anything that may be sent to one may be sent
// to the other. URLs are split by libcurl, which also sends the requests: another parser could see a different host in
// them.
bool have_same_origin(const std::string& a, const std::string& b);

// Returns the URL without its user and password, or "" if libcurl does not accept it. libcurl resolves a relative
// redirect to a URL that has the user and password of ~/.netrc.
std::string without_user(const std::string& url);

// Returns why a redirect must not be followed, or "" if it may. Never allowed are other schemes than http and https,
// from https to http, and to another origin with a user. Otherwise Redirects::same_host allows the same origin, and
// Redirects::any all. `from` must be an http:// or https:// URL. The text names the new host and nothing else of the
// URL, which may contain secrets.
std::string redirect_refusal(const std::string& from, const std::string& to, spec::Redirects allowed);

}  // namespace chexbench::storage
