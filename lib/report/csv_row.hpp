// Builds one row of a CSV file, by RFC 4180 with LF, without anything that spreadsheets would evaluate.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/numbers.hpp"
#include "core/printable.hpp"

namespace chexbench::report {

// Returns whether a spreadsheet could take the text for a formula, quoted or not, and so execute a part of a name.
// Numbers are not formulas. Texts with apostrophes before such a beginning count, too, so that the apostrophe added by
// CsvRow can be removed again from exactly these texts.
inline bool could_be_formula(std::string_view text) {
  const std::size_t apostrophes = std::min(text.find_first_not_of('\''), text.size());
  const std::string_view rest = text.substr(apostrophes);
  constexpr std::string_view kBeginnings[] = {
      "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"};  // the last four are full-width
  const bool begins = std::ranges::any_of(kBeginnings, [rest](auto beginning) { return rest.starts_with(beginning); });
  const std::optional<double> number = parse_number<double>(text);
  return begins && !(number && std::isfinite(*number));
}

// Each call appends a field. A text that could be a formula gets an apostrophe, which makes it a text in spreadsheets
// (OWASP, "CSV Injection"); scripts/plotting/tables.py removes it. A floating-point number becomes the shortest text
// that restores the same bits; NaN, infinities and empty optionals become empty fields; booleans become true and false.
// Invalid UTF-8 becomes U+FFFD, as in JSON.
class CsvRow {
 public:
  void operator()(std::string_view text) {
    if (!is_utf8(text)) return (*this)(as_utf8(text));
    const char* const guard = could_be_formula(text) ? "'" : "";
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return append(fmt::format("{}{}", guard, text));
    std::string quoted = fmt::format("\"{}", guard);
    for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
    append(quoted + '"');
  }
  void operator()(const std::string& text) { (*this)(std::string_view(text)); }
  void operator()(const char* text) { (*this)(std::string_view(text)); }
  void operator()(bool value) { append(value ? "true" : "false"); }
  void operator()(double value) { append(std::isfinite(value) ? fmt::format("{}", value) : ""); }
  void operator()(std::integral auto value) { append(fmt::format("{}", value)); }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    value ? (*this)(*value) : append("");
  }

  // Returns the row with a newline, and leaves the object unusable.
  std::string line() && { return std::move(text_) + '\n'; }

 private:
  void append(std::string_view field) {
    if (!std::exchange(first_, false)) text_ += ',';
    text_ += field;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace chexbench::report
