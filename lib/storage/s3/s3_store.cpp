#include "storage/s3/s3_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <pugixml.hpp>
#include <unordered_set>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"
#include "storage/http/http_store.hpp"
#include "storage/untrusted.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr const char* kDefaultRegion = "us-east-1";

// Returns the user's remedy for an error, by its code, or "" if none is known.
std::string_view remedy(std::string_view code) {
  if (code == "NoSuchBucket") return "check the bucket's name in data.root, and store.endpoint";
  if (code == "AccessDenied") return "these credentials may not read here, or there are none";
  if (code == "ExpiredToken" || code == "TokenRefreshRequired") return "the credentials have expired: get new ones";
  if (code == "InvalidAccessKeyId") return "the server does not know the access key: another endpoint's?";
  if (code == "SignatureDoesNotMatch") return "the secret key is not the access key's";
  if (code == "RequestTimeTooSkewed") return "this machine's clock is wrong";
  if (code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed") return "set store.region to the bucket's";
  return {};
}

class S3Dialect final : public HttpDialect {
 public:
  S3Dialect(const S3Place& place, AwsCredentials credentials)
      : place_(place), signer_(std::move(credentials), place.region) {}

  // Signs each try separately, because a signature is valid for minutes only.
  HttpRequest request(const std::string& url, const std::string& range, bool head_only) const override {
    HttpRequest request{.url = url, .headers = {}, .head_only = head_only};
    AwsRequest aws{.method = head_only ? "HEAD" : "GET", .host = place_.host, .path = {}, .query = {}, .headers = {}};
    if (!range.empty()) aws.headers.emplace_back("range", range);
    if (!signer_.has_credentials()) {
      for (const auto& [name, value] : aws.headers) request.headers.push_back(fmt::format("{}: {}", name, value));
      return request;
    }
    const std::string rest = url.substr(place_.scheme.size() + std::string_view("://").size() + place_.host.size());
    const std::size_t question = std::min(rest.find('?'), rest.size());
    aws.path = rest.substr(0, question);
    for (std::size_t at = question + 1; at < rest.size();) {
      const std::size_t end = std::min(rest.find('&', at), rest.size());
      const std::size_t equals = rest.find('=', at);
      aws.query.emplace_back(rest.substr(at, equals - at), rest.substr(equals + 1, end - equals - 1));
      at = end + 1;
    }
    request.headers = signer_.sign(aws, aws_time_now());
    return request;
  }

  std::string reason(const HttpReply& reply) const override {
    std::string code = s3_error_code(reply.error_text);
    if (code.empty() && reply.status == 403) code = "AccessDenied";  // a HEAD answer has no body to read it from
    const std::string_view mend = remedy(code);
    return mend.empty() ? code : fmt::format("{}: {}", code, mend);
  }

 private:
  const S3Place place_;
  const AwsSigner signer_;
};

// Makes sure that a listing ends even with a faulty server, and warns of one that takes long.
class ListingLimits {
 public:
  explicit ListingLimits(const std::string& folder) : folder_(folder) {}

  // Checks a page after which `entries` entries are known.
  void check(const S3Page& page, std::size_t entries) {
    if (entries > kMostEntries) fail(fmt::format("it has more than {} entries", kMostEntries));
    if (page.next.empty()) return;
    if (page.next.size() > kMostTokenBytes) fail("the server continues with a token of absurd length");
    if (!tokens_.insert(std::hash<std::string>{}(page.next)).second)
      fail("the server repeats what it has already sent");
    if (tokens_.size() > kMostPages) fail(fmt::format("the server sends more than {} pages", kMostPages));
    if (now_s() < next_note_s_) return;
    log::info("listing {}: {} entries so far", folder_, entries);
    next_note_s_ = now_s() + kNoteS;
  }

 private:
  static constexpr std::size_t kMostPages = kMostEntries / 100;  // a page has 1000 entries, fewer on some servers
  static constexpr std::size_t kMostTokenBytes = 16 * 1024;
  static constexpr double kNoteS = 10;

  [[noreturn]] void fail(std::string_view reason) const {
    throw DataError(fmt::format("cannot list {}: {}", folder_, reason));
  }

  const std::string& folder_;
  std::unordered_set<std::size_t> tokens_;  // their hashes
  double next_note_s_ = now_s() + kNoteS;
};

class S3Store final : public HttpStore {
 public:
  S3Store(std::string bucket, const S3Place& place, const AwsCredentials& credentials,
          std::unique_ptr<HttpClient> client, const RetryPolicy& policy)
      : HttpStore(fmt::format("{}{}", kScheme, bucket), std::make_unique<S3Dialect>(place, credentials),
                  std::move(client), policy),
        bucket_(std::move(bucket)),
        place_(place) {}

  std::vector<StoreEntry> list(const std::string& folder) const override {
    std::string prefix = key_of(folder);
    if (!prefix.empty()) prefix += '/';
    std::vector<StoreEntry> entries;
    ListedNames names(folder);
    ListingLimits limits(folder);
    std::string next;
    do {
      const S3Page page = ask_page(folder, prefix, next);
      add(page, folder, prefix, names, entries);
      limits.check(page, entries.size());
      next = page.next;
    } while (!next.empty());
    names.tell();
    return entries;
  }

 private:
  std::string key_of(const std::string& path) const {
    std::string key = path.substr(std::min(kScheme.size() + bucket_.size() + 1, path.size()));
    while (key.ends_with('/')) key.pop_back();
    return key;
  }
  HttpTarget target(const std::string& path) const override { return {path, url_of(key_of(path))}; }
  std::string url_of(const std::string& key) const {
    return fmt::format("{}://{}{}{}", place_.scheme, place_.host, place_.before, percent_encoded(key));
  }

  S3Page ask_page(const std::string& folder, const std::string& prefix, const std::string& next) const {
    std::vector<std::pair<std::string, std::string>> query = {
        {"delimiter", "%2F"}, {"encoding-type", "url"}, {"list-type", "2"}, {"prefix", percent_encoded_all(prefix)}};
    if (!next.empty()) query.emplace_back("continuation-token", percent_encoded_all(next));
    std::string bucket_url = url_of("");
    if (place_.before.size() > 1) bucket_url.pop_back();  // "/bucket": some servers treat "/bucket/" differently
    const HttpTarget page{folder, fmt::format("{}?{}", bucket_url, sorted_query(std::move(query)))};
    const std::string xml = fetcher().read_listing(page, kMostS3PageBytes).value_or("");
    try {
      return parse_s3_page(xml);
    } catch (const DataError& error) {
      throw DataError(fmt::format("cannot list {}: {}", folder, error.what()));
    }
  }

  // Adds the entries of a page, and remembers their versions, so that a change between listing and reading is noticed.
  void add(const S3Page& page, const std::string& folder, const std::string& prefix, ListedNames& names,
           std::vector<StoreEntry>& entries) const {
    for (const S3Page::Object& object : page.objects) {
      std::string name = object.key.substr(std::min(prefix.size(), object.key.size()));
      if (!names.take(name)) continue;
      fetcher().known().expect(fmt::format("{}/{}", folder, name), object.version);
      entries.push_back({std::move(name), StoreEntry::Kind::file, object.version.bytes});
    }
    for (const std::string& key : page.folders) {
      std::string name = key.substr(std::min(prefix.size(), key.size()));
      if (name.ends_with('/')) name.pop_back();
      const auto kind = name.empty() ? StoreEntry::Kind::other : StoreEntry::Kind::folder;  // of set//a.png
      if (names.take(name) || kind == StoreEntry::Kind::other) entries.push_back({std::move(name), kind, {}});
    }
  }

  const std::string bucket_;
  const S3Place place_;
};

}  // namespace

S3Place find_s3_place(const std::string& bucket, const spec::StoreSpec& spec, const AwsSettings& settings) {
  S3Place place;
  const std::string& region = spec.region.empty() ? settings.region : spec.region;
  place.region = region.empty() ? kDefaultRegion : region;
  const std::string& endpoint = spec.endpoint.empty() ? settings.endpoint : spec.endpoint;
  place.host = fmt::format("s3.{}.amazonaws.com", place.region);
  if (!endpoint.empty()) {
    const std::optional<Url> url = parse_url(endpoint, "store.endpoint (or AWS_ENDPOINT_URL)");
    if (!url || (url->scheme != "http" && url->scheme != "https") || url->authority.empty() || !url->path.empty()) {
      throw DataError("store.endpoint (or AWS_ENDPOINT_URL) must be http(s)://host[:port], without a path");
    }
    place.scheme = url->scheme;
    place.host = url->authority;
  }
  const bool fits_a_host = bucket.find('.') == std::string::npos;
  const bool by_host = spec.addressing == spec::S3Addressing::automatic
                           ? endpoint.empty() && fits_a_host
                           : spec.addressing == spec::S3Addressing::virtual_host;
  if (by_host) place.host = bucket + "." + place.host;
  place.before = by_host ? "/" : fmt::format("/{}/", percent_encoded_all(bucket));
  return place;
}

std::unique_ptr<Store> make_s3_store(const Url& root, const spec::StoreSpec& spec, const AwsSettings& settings,
                                     std::unique_ptr<HttpClient> client, const RetryPolicy& policy) {
  return std::make_unique<S3Store>(root.authority, find_s3_place(root.authority, spec, settings), settings.credentials,
                                   std::move(client), policy);
}

namespace {

// Keeps a text of only blanks, because a key may be one. Custom entities are never expanded.
constexpr unsigned kParse = pugi::parse_default | pugi::parse_ws_pcdata_single;

// With encoding-type=url, '+' stands for a blank.
std::string key_of(std::string text, bool is_encoded) {
  if (!is_encoded) return text;
  std::replace(text.begin(), text.end(), '+', ' ');
  return percent_decoded(text);
}

}  // namespace

S3Page parse_s3_page(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), kParse, pugi::encoding_utf8);
  const pugi::xml_node listing = document.child("ListBucketResult");
  if (!listing) throw DataError("the answer to a listing is not a ListBucketResult: is this an S3 server?");
  if (!parsed) {
    throw DataError(fmt::format("the answer to a listing was cut or damaged at byte {} of {}: {}", parsed.offset,
                                xml.size(), parsed.description()));
  }
  const bool is_encoded = listing.child_value("EncodingType") == std::string_view("url");
  S3Page page;
  for (const pugi::xml_node object : listing.children("Contents")) {
    page.objects.push_back({key_of(object.child_value("Key"), is_encoded),
                            {parse_number<std::uint64_t>(object.child_value("Size")), object.child_value("ETag")}});
  }
  for (const pugi::xml_node folder : listing.children("CommonPrefixes")) {
    page.folders.push_back(key_of(folder.child_value("Prefix"), is_encoded));
  }
  if (listing.child_value("IsTruncated") == std::string_view("true")) {
    page.next = listing.child_value("NextContinuationToken");
    if (page.next.empty()) throw DataError("a listing says that it continues, but not where");
  }
  return page;
}

std::string s3_error_code(std::string_view xml) {
  pugi::xml_document document;
  // The text may be truncated, because only the beginning of a body is kept: the part parsed so far counts.
  const bool is_whole = document.load_buffer(xml.data(), xml.size(), kParse, pugi::encoding_utf8);
  const pugi::xml_node found =
      document.find_node([](const pugi::xml_node& node) { return node.name() == std::string_view("Code"); });
  if (!is_whole && !found.next_sibling()) return {};  // it may be truncated
  const std::string code = found.child_value();
  const bool is_word = code.size() <= 64 && std::ranges::all_of(code, [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                       });
  return is_word ? code : std::string();
}

}  // namespace chexbench::storage
