#include "storage/http/entities.hpp"

#include <string_view>
#include <utility>

namespace chexbench::storage {

std::string without_entities(std::string text) {
  for (const auto& [code, plain] : {std::pair<std::string_view, char>{"&lt;", '<'},
                                    {"&gt;", '>'},
                                    {"&quot;", '"'},
                                    {"&#34;", '"'},
                                    {"&apos;", '\''},
                                    {"&#39;", '\''},
                                    {"&#x27;", '\''},
                                    {"&amp;", '&'}}) {
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code, at + 1)) {
      text.replace(at, code.size(), 1, plain);
    }
  }
  return text;
}

}  // namespace chexbench::storage
