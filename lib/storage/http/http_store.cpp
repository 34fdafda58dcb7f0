#include "storage/http/http_store.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"
#include "storage/http/http_index.hpp"
#include "storage/limits.hpp"
#include "storage/listed_names.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

// The requests in flight per rank: the interleave cycle of the pipeline `optimized`, plus some read-ahead. Their
// threads mostly wait, so there may be more of them than cores.
constexpr std::size_t kRequestsAtOnce = 16;

}  // namespace

HttpStore::HttpStore(const std::string& root, std::unique_ptr<HttpDialect> dialect, std::unique_ptr<HttpClient> client,
                     const RetryPolicy& policy)
    : dialect_(std::move(dialect)),
      fetcher_(std::make_unique<HttpFetcher>(std::move(client), *dialect_, policy, root)),
      pool_(std::make_unique<ThreadPool>(kRequestsAtOnce)) {}

HttpStore::~HttpStore() { fetcher_->cancel(); }

std::optional<std::uint64_t> HttpStore::size(const std::string& path) const { return fetcher_->size(target(path)); }

std::span<const std::byte> HttpStore::read(const std::string& path, ByteBuffer& buffer) const {
  return fetcher_->read(target(path), buffer);
}

std::unique_ptr<ByteStream> HttpStore::stream(const std::string& path, std::stop_token stop) const {
  HttpTarget object = target(path);
  const std::optional<std::uint64_t> bytes = fetcher_->size(object);
  if (!bytes) throw DataError(fmt::format("cannot read {}: there is no such object", path));
  const auto read = [fetcher = fetcher_.get(), object = std::move(object)](auto first, auto& pieces,
                                                                           const auto& wanted) {
    fetcher->read_range(object, first, pieces, wanted);
  };
  return stream_ranges({.path = path, .size = *bytes, .read = read}, *pool_, plan_, std::move(stop));
}

// The store of http:// and https:// roots. It lists a folder by the web server's index page.

namespace {

class WebDialect final : public HttpDialect {
 public:
  explicit WebDialect(spec::Redirects redirects) : redirects_(redirects) {}

  HttpRequest request(const std::string& url, const std::string& range, bool head_only) const override {
    HttpRequest request{
        .url = url, .headers = {}, .head_only = head_only, .redirects = redirects_, .may_use_netrc = true};
    if (!range.empty()) request.headers.push_back("Range: " + range);
    return request;
  }
  std::string reason(const HttpReply& reply) const override {
    switch (reply.status) {
      case 401:
        return "it wants a password: give one for this host in ~/.netrc";
      case 403:
        return "forbidden (of a folder: does the server make index pages? nginx: autoindex on)";
      case 404:
        return "not found";
      default:
        return {};
    }
  }

 private:
  const spec::Redirects redirects_;
};

class WebStore final : public HttpStore {
 public:
  WebStore(std::string root, std::unique_ptr<HttpClient> client, const RetryPolicy& policy, spec::Redirects redirects)
      : HttpStore(root, std::make_unique<WebDialect>(redirects), std::move(client), policy), root_(std::move(root)) {}

  std::vector<StoreEntry> list(const std::string& folder) const override {
    HttpTarget page = target(folder);
    if (!page.url.ends_with('/')) page.url += '/';
    const std::optional<std::string> html = fetcher().find_listing(page, kMostIndexPageBytes);
    if (!html) return {};
    try {
      std::vector<StoreEntry> entries = parse_index_page(*html, page.url.substr(0, page.url.size() - 1));
      ListedNames names(folder);
      std::erase_if(entries, [&](const StoreEntry& entry) { return !names.take(entry.name); });
      names.tell();
      return entries;
    } catch (const DataError& error) {
      throw DataError(fmt::format("cannot list {}: {}", folder, error.what()));
    }
  }

 private:
  // The root is a URL, kept as the user wrote it. The names after it are plain and must be encoded.
  HttpTarget target(const std::string& path) const override {
    const std::size_t kept = path.starts_with(root_) ? root_.size() : 0;
    return {path, path.substr(0, kept) + percent_encoded(path.substr(kept))};
  }

  const std::string root_;
};

}  // namespace

std::unique_ptr<Store> make_web_store(const std::string& root, std::unique_ptr<HttpClient> client,
                                      const RetryPolicy& policy, spec::Redirects redirects) {
  return std::make_unique<WebStore>(root, std::move(client), policy, redirects);
}

}  // namespace chexbench::storage
