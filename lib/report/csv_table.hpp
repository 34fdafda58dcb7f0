// A CSV file while its rows are made, by RFC 4180 with LF and without anything that spreadsheets would evaluate. The
// visits that write its fields also describe its columns, so that the two cannot differ.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "measure/gpu_sampler.hpp"
#include "measure/statistics.hpp"
#include "results/field.hpp"
#include "results/figures.hpp"

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

// The description of one column.
struct Column {
  std::string name;
  std::string datatype;  // of CSVW, from XML Schema: string, boolean, integer, nonNegativeInteger, double
  std::string unit;      // "" without a unit
  std::string meaning;   // a phrase without a full stop
  std::string empty_if;  // when a field is empty: a clause without "if"; "" if it never is
};

// A list, which does not fit into a cell.
template <class Value>
concept IsList =
    std::same_as<Value, std::vector<std::string>> || std::same_as<Value, std::optional<std::vector<std::string>>> ||
    std::same_as<Value, std::vector<measure::ThrottleShare>> || std::same_as<Value, std::vector<results::WaitShare>>;

// Returns the datatype of fields with a `Value` or, if it is optional, with its value.
template <class Value>
const char* datatype_of(const Value*) {
  if constexpr (std::is_same_v<Value, bool>)
    return "boolean";
  else if constexpr (std::unsigned_integral<Value>)
    return "nonNegativeInteger";
  else if constexpr (std::integral<Value>)
    return "integer";
  else if constexpr (std::floating_point<Value>)
    return "double";
  else
    return "string";
}
template <class Value>
const char* datatype_of(const std::optional<Value>*) {
  return datatype_of(static_cast<const Value*>(nullptr));
}

// A visitor of fields, each of which becomes a cell. All rows must be made by the same visits.
class CsvTable {
 public:
  template <class Value>
  void operator()(const results::Field& field, const Value& value) {
    if (lines_.empty())
      columns_.push_back({field.name, datatype_of(&value), field.unit, field.meaning, field.empty_if});
    row_(value);
  }
  // Lists have rows in separate files. Everything else must be a Field, so that it is described.
  void operator()(const char* /*name*/, const IsList auto& /*list*/) const {}
  // An interval takes two columns.
  void operator()(const results::Field& field, const std::optional<measure::Interval>& value) {
    const std::string name = field.name, meaning = field.meaning, low = name + "_low", high = name + "_high";
    const std::string of_low = "lower end of the " + meaning, of_high = "upper end of the " + meaning;
    (*this)(results::Field{low.c_str(), field.unit, of_low.c_str(), field.empty_if},
            value ? std::optional(value->low) : std::nullopt);
    (*this)(results::Field{high.c_str(), field.unit, of_high.c_str(), field.empty_if},
            value ? std::optional(value->high) : std::nullopt);
  }
  // A cell whose column is described elsewhere.
  void add_cell(const std::string& text) { row_(text); }
  void end_row() { lines_ += std::exchange(row_, {}).line(); }

  const std::string& lines() const { return lines_; }              // without the header
  const std::vector<Column>& columns() const { return columns_; }  // empty if no cell was made

 private:
  std::vector<Column> columns_;
  CsvRow row_;
  std::string lines_;
};

// Returns the line of the columns' names.
inline std::string header_line(const std::vector<Column>& columns) {
  CsvRow line;
  for (const Column& column : columns) line(column.name);
  return std::move(line).line();
}

}  // namespace chexbench::report
