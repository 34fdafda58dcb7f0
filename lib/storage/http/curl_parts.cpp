#include "storage/http/curl_parts.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "core/csv.hpp"
#include "core/numbers.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {

std::string url_part(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  std::string result = text;
  curl_free(text);
  return result;
}

namespace {

// The part of a URL that determines where its requests go.
struct Origin {
  std::string scheme;
  std::string host;
  std::string port;
  bool has_user = false;

  std::string text() const { return shown(fmt::format("{}://{}:{}", scheme, host, port)); }
};

std::string part_of(CURLU* url, CURLUPart part) {
  std::string result = url_part(url, part, CURLU_DEFAULT_PORT);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

// Returns std::nullopt if libcurl does not accept the URL.
std::optional<Origin> origin_of(const std::string& text) {
  const CurlUrl url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) return {};
  return Origin{
      .scheme = part_of(url.get(), CURLUPART_SCHEME),
      .host = part_of(url.get(), CURLUPART_HOST),
      .port = part_of(url.get(), CURLUPART_PORT),
      .has_user = !part_of(url.get(), CURLUPART_USER).empty() || !part_of(url.get(), CURLUPART_PASSWORD).empty()};
}

bool are_same(const Origin& a, const Origin& b) { return a.scheme == b.scheme && a.host == b.host && a.port == b.port; }

}  // namespace

bool have_same_origin(const std::string& a, const std::string& b) {
  const std::optional<Origin> first = origin_of(a);
  const std::optional<Origin> second = origin_of(b);
  return first && second && are_same(*first, *second);
}

std::string without_user(const std::string& url) {
  const CurlUrl parsed(curl_url());
  if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), CURLU_PATH_AS_IS) != CURLUE_OK ||
      curl_url_set(parsed.get(), CURLUPART_USER, nullptr, 0) != CURLUE_OK ||
      curl_url_set(parsed.get(), CURLUPART_PASSWORD, nullptr, 0) != CURLUE_OK) {
    return {};
  }
  return url_part(parsed.get(), CURLUPART_URL);
}

std::string redirect_refusal(const std::string& from, const std::string& to, spec::Redirects allowed) {
  const std::optional<Origin> old_origin = origin_of(from);
  const std::optional<Origin> new_origin = origin_of(to);
  if (!old_origin || !new_origin) return "the server redirects to something that is no URL";
  if (new_origin->scheme != "http" && new_origin->scheme != "https") {
    return fmt::format("the server redirects to a {}:// URL: only http and https are followed",
                       shown(new_origin->scheme));
  }
  if (old_origin->scheme == "https" && new_origin->scheme == "http") {
    return fmt::format("the server redirects from https to {}, where anybody on the way may read and change all",
                       new_origin->text());
  }
  if (are_same(*old_origin, *new_origin)) return {};
  if (new_origin->has_user) return fmt::format("the server redirects to {} with a user", new_origin->text());
  if (allowed == spec::Redirects::any) return {};
  return fmt::format("the server redirects from {} to {}: name that one in data.root, or set store.redirects to any",
                     old_origin->text(), new_origin->text());
}

std::string trusted_certificates(const Environment& environment, const std::filesystem::path& root) {
  // OpenSSL, the curl command and Amazon's tools take a private authority from these variables; libcurl reads none.
  for (const char* const name : {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (std::string file = environment(name); !file.empty()) return file;
  }
  // libcurl knows the location on the distribution that it was built on, but the program may run on another one.
  for (const char* const name : {"etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
                                 "etc/pki/tls/certs/ca-bundle.crt",    // RHEL, Fedora
                                 "etc/ssl/ca-bundle.pem",              // openSUSE
                                 "etc/ssl/cert.pem"}) {                // Alpine, BSDs
    std::error_code ignored;
    if (std::filesystem::exists(root / name, ignored)) return root / name;
  }
  return {};
}

namespace {

std::string_view without_end(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Returns the value of a header line "Name: value", or an empty text if it has another name than `name`, which is in
// lower case.
std::string_view header_value(std::string_view line, std::string_view name) {
  const bool has_name =
      line.size() > name.size() && line[name.size()] == ':' &&
      std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == (b | 0x20) || a == b; });
  return has_name ? trimmed(line.substr(name.size() + 1)) : std::string_view();
}

}  // namespace

void read_header_line(HttpReply& reply, std::string_view line) {
  line = without_end(line);
  if (line.empty()) return;
  if (line.starts_with("HTTP/")) {
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    reply = {};
    reply.status = parse_number<int>(line.substr(blank + 1, 3)).value_or(0);
    return;
  }
  const auto take = [line](std::string_view name, std::string& to) {
    if (const std::string_view value = header_value(line, name); !value.empty()) to = value;
  };
  if (const std::string_view length = header_value(line, "content-length"); !length.empty()) {
    reply.length = parse_number<std::uint64_t>(length);
  }
  take("content-encoding", reply.content_encoding);
  take("content-range", reply.content_range);
  take("etag", reply.etag);
  take("last-modified", reply.last_modified);
}

}  // namespace chexbench::storage
