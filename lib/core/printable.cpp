#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chexbench {
namespace {

// Returns whether the character, in UTF-8, could control a terminal or the display of the line.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;  // U+0080 to U+009F
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  const bool is_mark = byte(1) == 0x80 && (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae));
  return is_mark || (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);  // U+2066 to U+2069
}

// Returns how many bytes at the beginning are printable ASCII: nearly all text is, and needs no check character by
// character.
std::size_t plain_bytes(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c < '\x7f'; };
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

// Removes the first character of `text`, which must not be empty, and returns its printable form.
std::string take_shown(std::string_view& text) {
  const std::size_t bytes = utf8_character_bytes(text);
  const std::string_view character = text.substr(0, bytes == 0 ? 1 : bytes);
  text.remove_prefix(character.size());
  if (bytes != 0 && !is_control(character)) return std::string(character);
  std::string shown;
  for (const char c : character) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return shown;
}

}  // namespace

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (true) {
    const std::size_t plain = std::min(plain_bytes(text), max_bytes - out.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return out;
    const std::string shown = take_shown(text);
    if (out.size() + shown.size() > max_bytes) return out + "...";
    out += shown;
  }
}

std::string printable_lines(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    if (text.front() == '\n' || text.front() == '\t') {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += take_shown(text);
    }
  }
  return out;
}

std::size_t utf8_character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  // RFC 3629, section 4: only the second byte distinguishes overlong forms, surrogates and numbers that are too large.
  if (first >= 0xe0 && first <= 0xef) {
    return continues(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool is_second = continues(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return is_second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = utf8_character_bytes(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t bytes = utf8_character_bytes(text);
    valid += bytes == 0 ? "\ufffd" : text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return valid;
}

}  // namespace chexbench
