#include "storage/url.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"

namespace chexbench::storage {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return result;
}

}  // namespace

std::optional<Url> parse_url(std::string_view text, std::string_view what) {
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return {};
  Url url;
  for (const char c : text.substr(0, colon)) {
    if (!is_letter(c) && !is_digit(c)) return {};
    url.scheme += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  std::string_view rest = text.substr(colon + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.authority = rest.substr(0, slash);
  rest.remove_prefix(slash);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  url.path = rest;
  if (url.authority.find('@') != std::string::npos || text.find_first_of("?#") != std::string_view::npos ||
      without_credentials(text) != text) {
    throw DataError(
        fmt::format("{} is a {}:// URL with a user, a query, a fragment or a port that is no number: it appears in "
                    "every report, so it must hold no secret; keys come from the environment or from files",
                    what, url.scheme));
  }
  return url;
}

std::string without_last_slash(std::string root) {
  while (root.find("://") != std::string::npos && root.ends_with('/')) root.pop_back();
  return root;
}

void check_is_folder(std::string_view root, std::string_view verb) {
  const std::optional<Url> url = parse_url(root);
  if (!url) return;
  throw DataError(
      fmt::format("{} writes files, and {}:// can only be read: give it a folder of this machine, and copy the "
                  "result to the server",
                  verb, url->scheme));
}

std::string percent_encoded(std::string_view text) { return encoded(text, "-._~/"); }

std::string percent_encoded_all(std::string_view text) { return encoded(text, "-._~"); }

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool may_be_code = text[i] == '%' && i + 2 < text.size();
    const auto code = may_be_code ? parse_number<unsigned>(text.substr(i + 1, 2), 16) : std::nullopt;
    result += code ? static_cast<char>(*code) : text[i];
    if (code) i += 2;
  }
  return result;
}

}  // namespace chexbench::storage
