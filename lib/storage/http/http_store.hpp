// The base class of the stores over HTTP, and the store of web servers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "spec/trial_spec.hpp"
#include "storage/http/http_fetcher.hpp"
#include "storage/range_stream.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// The common part of all stores over HTTP: parallel requests, reading ahead, and retries. The destructor ends all
// requests. Thread-safe.
class HttpStore : public Store {
 public:
  ~HttpStore() override;
  std::optional<std::uint64_t> size(const std::string& path) const override;
  std::span<const std::byte> read(const std::string& path, ByteBuffer& buffer) const override;
  std::unique_ptr<ByteStream> stream(const std::string& path, std::stop_token stop) const override;
  bool is_local() const override { return false; }

 protected:
  // `root` is the name of the store in messages.
  HttpStore(const std::string& root, std::unique_ptr<HttpDialect> dialect, std::unique_ptr<HttpClient> client,
            const RetryPolicy& policy);
  // Returns the URL of a path of the store.
  virtual HttpTarget target(const std::string& path) const = 0;
  HttpFetcher& fetcher() const { return *fetcher_; }

 private:
  const std::unique_ptr<HttpDialect> dialect_;
  const std::unique_ptr<HttpFetcher> fetcher_;
  const RangePlan plan_;
  const std::unique_ptr<ThreadPool> pool_;  // last, so that its threads end before the members that they use
};

// Returns a store of the folders that a web server shows as index pages. `root` is an http:// or https:// URL without a
// '/' at its end. Sends no request yet.
std::unique_ptr<Store> make_web_store(const std::string& root, std::unique_ptr<HttpClient> client,
                                      const RetryPolicy& policy,
                                      spec::Redirects redirects = spec::Redirects::same_host);

// Parses a web server's index page of a folder: nginx's autoindex, Apache's mod_autoindex, Python's http.server, and
// servers that link by full paths, like IIS. Returns the entries of the folder, one for each direct child that a link
// leads to; links that end in '/' are folders. Links may be relative, or begin with the page's own path or `url`, the
// address of the page without its last slash. Skips all other links. Reports no sizes, because each server writes them
// in its own way.
// @throws DataError if there are more than kMostEntries; the message does not name the page
std::vector<StoreEntry> parse_index_page(std::string_view html, std::string_view url);

// Returns the text with each entity of < > " ' and &, by name or by number, replaced by its character. Other entities
// are unchanged. Takes linear time.
std::string without_entities(std::string_view text);

}  // namespace chexbench::storage
