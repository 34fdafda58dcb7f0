// Servers' answers to a listing, and texts of URLs.
#include <algorithm>

#include "fuzz/fuzz.hpp"
#include "storage/http/http_store.hpp"
#include "storage/s3/s3_store.hpp"
#include "storage/url.hpp"

namespace chexbench::fuzz {

FUZZ_TARGET(s3_xml, "storage/s3/s3_store.cpp") {
  const std::string_view xml = Input(bytes).text();
  const auto page = accepted({ExitCode::data}, [&] { return storage::parse_s3_page(xml); });
  if (page) require(page->objects.size() + page->folders.size() <= xml.size(), "a page has more entries than bytes");
  const std::string code = storage::s3_error_code(xml);
  const bool is_word = std::ranges::all_of(
      code, [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
  require(code.size() <= 64 && is_word, "an error's code is no word");
}

FUZZ_TARGET(index_page, "storage/http/http_store.cpp") {
  const std::string_view html = Input(bytes).text();
  const std::vector<storage::StoreEntry> entries = storage::parse_index_page(html, "http://host/set");  // never throws
  for (const storage::StoreEntry& entry : entries) {
    require(!entry.name.empty() && entry.name != "." && entry.name != ".." && entry.name.find('/') == std::string::npos,
            "an index page names what is no direct child");
    require(entry.kind != storage::StoreEntry::Kind::other, "an index page names what is neither file nor folder");
  }
  require(storage::without_entities(std::string(html)).size() <= html.size(), "entities become longer");
}

FUZZ_TARGET(url, "storage/url.cpp") {
  const std::string_view text = Input(bytes).text();
  require(storage::percent_decoded(storage::percent_encoded(text)) == text, "a path is decoded otherwise");
  require(storage::percent_decoded(storage::percent_encoded_all(text)) == text, "a query is decoded otherwise");
  require(storage::percent_decoded(text).size() <= text.size(), "a decoded text is longer");
  const auto url = accepted({ExitCode::data}, [&] { return storage::parse_url(text); });
  if (!url || !*url) return;
  const storage::Url& parts = **url;
  require(parts.authority.find_first_of("/@?#") == std::string::npos, "a host holds what no host has");
  require(parts.path.empty() || (parts.path.front() == '/' && parts.path.back() != '/'), "a path has no slash");
  const auto again = storage::parse_url(parts.scheme + "://" + parts.authority + parts.path);
  require(again && again->authority == parts.authority && again->path == parts.path, "a URL is read otherwise");
}

}  // namespace chexbench::fuzz
