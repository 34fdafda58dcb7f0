#include "storage/http/http_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/errors.hpp"
#include "core/text.hpp"
#include "storage/untrusted.hpp"
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
    const std::optional<std::string> html = fetcher().read_listing(page, kMostIndexPageBytes, true);
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

namespace {

constexpr std::string_view kBlanks = " \t\r\n\f";

std::size_t after_blanks(std::string_view html, std::size_t at) {
  return std::min(html.find_first_not_of(kBlanks, at), html.size());
}

// Finds the links of a page one after the other: the values of its attributes href, in any case and with any quotes.
class Links {
 public:
  explicit Links(std::string_view html) : html_(html) {}

  bool next(std::string_view& link) {
    while ((at_ = html_.find_first_of("hH", at_)) != std::string_view::npos) {
      const std::size_t begin = at_++;
      if (html_.size() - begin < kName.size() || lower_case(html_.substr(begin, kName.size())) != kName) continue;
      if (begin > 0 && (std::isalnum(static_cast<unsigned char>(html_[begin - 1])) != 0 || html_[begin - 1] == '-'))
        continue;  // the end of another name, such as data-href
      std::size_t value = after_blanks(html_, begin + kName.size());
      if (value == html_.size() || html_[value] != '=') continue;
      value = after_blanks(html_, value + 1);
      const bool is_quoted = value < html_.size() && (html_[value] == '"' || html_[value] == '\'');
      const std::size_t end =
          is_quoted ? html_.find(html_[value], value + 1) : html_.find_first_of(" \t\r\n\f>", value);
      if (is_quoted) ++value;
      at_ = std::min(end, html_.size());
      link = html_.substr(value, at_ - value);
      return true;
    }
    return false;
  }

 private:
  static constexpr std::string_view kName = "href";
  const std::string_view html_;
  std::size_t at_ = 0;
};

// Returns an address, decoded, without its scheme and with the host in small letters: "//host/path/".
std::string plain_address(std::string_view url) {
  url.remove_prefix(std::min(url.find("//"), url.size()));
  const std::size_t path = std::min(url.find('/', 2), url.size());
  return lower_case(url.substr(0, path)) + percent_decoded(url.substr(path));
}

// Returns whether the part of a link before the name refers to the folder with this plain address.
bool means_folder(std::string_view before, const std::string& folder) {
  if (before.empty() || before == "./") return true;
  const bool is_address = before.starts_with("//") || before.find("://") < before.find('/');
  return is_address ? plain_address(before) == folder
                    : percent_decoded(before) == std::string_view(folder).substr(folder.find('/', 2));
}

}  // namespace

std::vector<StoreEntry> parse_index_page(std::string_view html, std::string_view url) {
  std::vector<StoreEntry> entries;
  std::unordered_set<std::string> seen;
  const std::string folder = plain_address(fmt::format("{}/", url));
  std::size_t count = 0;
  Links links(html);
  for (std::string_view raw; links.next(raw);) {
    std::string link = without_entities(raw);
    if (link.empty() || link.find_first_of("?#") != std::string::npos) continue;  // a way to sort the page
    const bool is_folder = link.ends_with('/');
    if (is_folder) link.pop_back();
    const std::size_t begin = link.rfind('/') + 1;
    std::string name = percent_decoded(std::string_view(link).substr(begin));
    const bool has_scheme = begin == 0 && link.find(':') != std::string::npos;
    if (has_scheme || !means_folder(std::string_view(link).substr(0, begin), folder) || !is_one_name(name)) continue;
    if (++count > kMostEntries) {
      throw DataError(fmt::format("it has more than {} links, which is not a data set's folder", kMostEntries));
    }
    if (!seen.insert(name).second) continue;  // pages may link a name and its icon
    entries.push_back({std::move(name), is_folder ? StoreEntry::Kind::folder : StoreEntry::Kind::file, {}});
  }
  return entries;
}

namespace {

constexpr std::array<std::pair<std::string_view, char>, 8> kEntities{{{"&lt;", '<'},
                                                                      {"&gt;", '>'},
                                                                      {"&quot;", '"'},
                                                                      {"&#34;", '"'},
                                                                      {"&apos;", '\''},
                                                                      {"&#39;", '\''},
                                                                      {"&#x27;", '\''},
                                                                      {"&amp;", '&'}}};

}  // namespace

std::string without_entities(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (true) {
    const std::size_t plain = std::min(text.find('&'), text.size());
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return result;
    const auto entity = std::ranges::find_if(kEntities, [&](const auto& one) { return text.starts_with(one.first); });
    const bool is_known = entity != kEntities.end();
    result += is_known ? entity->second : text.front();
    text.remove_prefix(is_known ? entity->first.size() : 1);
  }
}

}  // namespace chexbench::storage
