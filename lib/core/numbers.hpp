// Parses numbers from text, independently of the locale.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace chexbench {

// Parses the number that `text` begins with, and removes it from `text`. Accepts neither leading blanks nor a '+'.
// Returns std::nullopt, and leaves `text` unchanged, if there is no number or it is out of range. `base` applies to
// integers only.
template <class Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  std::from_chars_result result{};
  if constexpr (std::floating_point<Number>) {
    result = std::from_chars(text.data(), end, number);
  } else {
    result = std::from_chars(text.data(), end, number, base);
  }
  if (result.ec != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return number;
}

// Parses the whole of `text` as a number. Returns std::nullopt if there is anything else in it, or it is out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  const std::optional<Number> number = take_number<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

}  // namespace chexbench
