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

#include "results/gpu_summary.hpp"

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

  // A list goes into one field.
  void operator()(const std::vector<std::string>& reasons) { (*this)(results::reasons_text(reasons)); }
  void operator()(const std::vector<measure::ThrottleShare>& shares) { (*this)(results::shares_text(shares)); }

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

}  // namespace chexbench::report
