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

namespace {

constexpr std::string_view kHidden = "...";
constexpr std::size_t npos = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the position after the last '@' of the text, plain or as %40, or 0.
std::size_t after_user(std::string_view text) {
  const std::size_t plain = text.rfind('@');
  const std::size_t coded = text.rfind("%40");
  return std::max(plain == npos ? 0 : plain + 1, coded == npos ? 0 : coded + 3);
}

// Returns whether an authority ends in ':' and something other than a port. [::1]:80 is an address with a port.
bool has_odd_port(std::string_view authority) {
  if (authority.starts_with('[')) authority.remove_prefix(std::min(authority.find(']'), authority.size()));
  while (!authority.empty() && std::string_view(":;,.)]").find(authority.back()) != npos) authority.remove_suffix(1);
  const std::size_t colon = authority.find(':');
  return colon != npos && !std::ranges::all_of(authority.substr(colon + 1), is_digit);
}

// Returns the text after scheme:// without its secrets.
std::string shown_rest(std::string_view rest) {
  std::string out;
  if (const std::size_t user_end = after_user(rest); user_end > 0) {
    out = std::string(kHidden) + "@";
    rest.remove_prefix(user_end);
  }
  const std::size_t query = std::min(rest.find_first_of("?#"), rest.size());
  const std::size_t host = std::min(rest.find('/'), query);
  out += has_odd_port(rest.substr(0, host)) ? kHidden : rest.substr(0, host);
  out += rest.substr(host, query - host);
  if (query < rest.size()) (out += rest[query]) += kHidden;
  return out;
}

// Returns a text without a scheme, in which me:word@host and ?name=value are secrets.
std::string shown_plain(std::string_view text) {
  std::string out;
  const std::size_t user_end = after_user(text);
  const std::size_t colon = text.find(':');
  if (colon < user_end) {  // the user begins after the key of an override, KEY=user:password@host, if there is one
    const std::size_t equals = text.substr(0, colon).find('=');
    out += text.substr(0, equals == npos ? 0 : equals + 1);
    (out += kHidden) += "@";
    text.remove_prefix(user_end);
  }
  const std::size_t query = std::min(text.find('?'), text.size());
  const bool has_values = text.find('=', query) != npos;
  out += text.substr(0, has_values ? query : npos);
  if (has_values) (out += '?') += kHidden;
  return out;
}

// Returns the position after a scheme's colon and its slashes; a single slash counts as two, mistyped.
std::size_t after_scheme(std::string_view text) {
  const std::size_t slashes = text.find(":/");
  if (slashes == npos) return npos;
  return std::min(text.find_first_not_of('/', slashes + 1), text.size());
}

// Returns the end of a possible URL: a quotation mark, a line end, or a blank after punctuation.
std::size_t clause_end(std::string_view message) {
  for (std::size_t i = 0; i < message.size(); ++i) {
    const char c = message[i];
    if (c == '\'' || c == '"' || c == '\n') return i;
    if (c == ' ' && i > 0 && std::string_view(":;,").find(message[i - 1]) != npos) return i;
  }
  return message.size();
}

// Returns the end of the first word of a message, where the password of a URL may contain blanks.
std::size_t word_end(std::string_view message) {
  const std::string_view clause = message.substr(0, clause_end(message));
  const std::size_t blank = std::min(clause.find(' '), clause.size());
  if (after_scheme(clause.substr(0, blank)) == npos) return blank;
  const std::size_t user_end = after_user(clause);
  return user_end < blank ? blank : std::min(clause.find(' ', user_end), clause.size());
}

}  // namespace

std::string without_credentials(std::string_view text) {
  const std::size_t rest = after_scheme(text);
  if (rest == npos) return shown_plain(text);
  return std::string(text.substr(0, rest)) + shown_rest(text.substr(rest));
}

std::string without_credentials_in_message(std::string_view message) {
  if (message.find_first_of("@?#%:") == npos) return std::string(message);
  std::string out;
  while (!message.empty()) {
    const std::size_t end = word_end(message);
    out += without_credentials(message.substr(0, end));
    if (end < message.size()) out += message[end];
    message.remove_prefix(std::min(end + 1, message.size()));
  }
  return out;
}

}  // namespace chexbench
