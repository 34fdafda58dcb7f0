#include "data/store/http_index.hpp"

#include <algorithm>
#include <string>

#include "data/store/url.hpp"

namespace chexbench::data {
namespace {

// The five characters that HTML escapes in an attribute, where they stand in a link.
std::string unescaped(std::string_view text) {
  std::string result(text);
  for (const auto& [code, plain] : {std::pair<std::string_view, char>{"&lt;", '<'},
                                    {"&gt;", '>'},
                                    {"&quot;", '"'},
                                    {"&#x27;", '\''},
                                    {"&#39;", '\''},
                                    {"&amp;", '&'}}) {
    for (std::size_t at = result.find(code); at != std::string::npos; at = result.find(code, at + 1)) {
      result.replace(at, code.size(), 1, plain);
    }
  }
  return result;
}

// The folder itself, those above it, other sites, ways to sort the page.
bool leads_elsewhere(std::string_view link) {
  return link.empty() || link.find_first_of("?#") != std::string_view::npos || link.find(':') < link.find('/');
}

}  // namespace

std::vector<StoreEntry> parse_index_page(std::string_view html) {
  constexpr std::string_view kLink = "href=\"";
  std::vector<StoreEntry> entries;
  for (std::size_t at = html.find(kLink); at != std::string_view::npos; at = html.find(kLink, at)) {
    at += kLink.size();
    std::string_view link = html.substr(at, std::min(html.find('"', at), html.size()) - at);
    if (leads_elsewhere(link)) continue;
    if (link.starts_with("./")) link.remove_prefix(2);
    const bool is_folder = link.ends_with('/');
    if (is_folder) link.remove_suffix(1);
    std::string name = percent_decoded(unescaped(link));
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) continue;
    entries.push_back({std::move(name), is_folder ? StoreEntry::Kind::folder : StoreEntry::Kind::file, {}});
  }
  return entries;
}

}  // namespace chexbench::data
