#include "storage/http/http_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/errors.hpp"
#include "storage/http/entities.hpp"
#include "storage/limits.hpp"
#include "storage/listed_names.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

// Returns true for links to other sites (a scheme) and to ways to sort the page (a query).
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
    std::string name = percent_decoded(without_entities(link));
    if (!is_one_name(name)) continue;
    if (entries.size() == kMostEntries) {
      throw DataError(fmt::format("it has more than {} links, which is no folder of a data set", kMostEntries));
    }
    entries.push_back({std::move(name), is_folder ? StoreEntry::Kind::folder : StoreEntry::Kind::file, {}});
  }
  return entries;
}

}  // namespace chexbench::storage
