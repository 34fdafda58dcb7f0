// Builds one row of a CSV file, after RFC 4180 with LF.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/column.hpp"

namespace chexbench::report {

// Appends a field for each call. A floating-point number becomes the shortest text that reads back as the same bits;
// NaN, infinities and empty optionals become empty fields; booleans become true and false.
class CsvRow {
 public:
  void operator()(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return append(text);
    std::string quoted = "\"";
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

  // Visits a field of a record: appends its value under the column that ColumnList makes of it.
  template <class Value>
  void operator()(const results::Field& /*field*/, const Value& value) {
    (*this)(value);
  }
  void operator()(const char* /*name*/, const IsList auto& /*list*/) const {}
  void operator()(const results::Field& /*field*/, const std::optional<measure::Interval>& value) {
    (*this)(value ? std::optional(value->low) : std::nullopt);
    (*this)(value ? std::optional(value->high) : std::nullopt);
  }

  // Returns the row with its line end, and leaves the object unusable.
  std::string line() && { return std::move(text_) + '\n'; }

 private:
  void append(std::string_view field) {
    if (!std::exchange(first_, false)) text_ += ',';
    text_ += field;
  }

  std::string text_;
  bool first_ = true;
};

// Returns the line of the columns' names.
inline std::string header_line(const std::vector<Column>& columns) {
  CsvRow line;
  for (const Column& column : columns) line(column.name);
  return std::move(line).line();
}

// Returns the line of what `visit_columns` visits in a row.
template <class Row>
std::string value_line(const Row& row) {
  CsvRow line;
  visit_columns(line, row);
  return std::move(line).line();
}

}  // namespace chexbench::report
