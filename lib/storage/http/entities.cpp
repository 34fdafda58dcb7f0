#include "storage/http/entities.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace chexbench::storage {
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
