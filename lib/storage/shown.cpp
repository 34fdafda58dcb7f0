#include "storage/shown.hpp"

#include <fmt/format.h>

#include <iterator>

namespace chexbench::storage {

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
