#include "storage/listed_names.hpp"

#include <fmt/format.h>

#include <iterator>

#include "core/log.hpp"
#include "storage/limits.hpp"

namespace chexbench::storage {

bool is_one_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

bool is_safe_name(std::string_view name) { return name.size() <= kMostNameBytes && !has_control_character(name); }

bool ListedNames::take(std::string_view name) {
  if (!is_one_name(name)) return false;
  if (is_safe_name(name)) return true;
  if (unsafe_++ == 0) first_ = shown(name);
  return false;
}

void ListedNames::tell() const {
  if (unsafe_ == 0) return;
  log::warning("{}: {} of its names left out, because they hold control characters or over {} bytes; the first is '{}'",
               shown(folder_), unsafe_, kMostNameBytes, first_);
}

bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) return true;
  }
  return false;
}

std::string shown(std::string_view text, std::size_t most_bytes) {
  std::string result;
  for (const char c : text.substr(0, most_bytes)) {
    if (c >= ' ' && c <= '~') {
      result += c;
    } else {
      fmt::format_to(std::back_inserter(result), "\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
  return text.size() > most_bytes ? result + "..." : result;
}

}  // namespace chexbench::storage
