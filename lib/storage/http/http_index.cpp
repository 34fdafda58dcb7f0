#include "storage/http/http_index.hpp"

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
#include "storage/limits.hpp"
#include "storage/listed_names.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
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
