#include "core/credentials.hpp"

#include <algorithm>

namespace chexbench {
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

// Returns the position after a scheme's colon and its slashes; a single slash is taken for two, mistyped.
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
