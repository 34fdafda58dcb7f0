// The columns of a CSV file: the visits that write its fields also say what they hold, so that the two cannot differ.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "measure/gpu_window.hpp"
#include "measure/statistics.hpp"
#include "results/field.hpp"

namespace chexbench::report {

// What a reader needs to know of one column.
struct Column {
  std::string name;
  std::string datatype;  // of CSVW, after XML Schema: string, boolean, integer, nonNegativeInteger, double
  std::string unit;      // "" if it has none
  std::string meaning;   // a phrase without a full stop
  std::string empty_if;  // when a field is empty: a clause without "if"; "" if none ever is
};

// A list, which a cell cannot hold.
template <class Value>
concept IsList =
    std::same_as<Value, std::vector<std::string>> || std::same_as<Value, std::optional<std::vector<std::string>>> ||
    std::same_as<Value, std::vector<measure::ThrottleShare>>;

// Returns the datatype of the fields that hold a `Value` or, if it is optional, its value.
template <class Value>
const char* datatype_of() {
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
  return datatype_of<Value>();
}
template <class Value>
const char* datatype_of(const Value*) {
  return datatype_of<Value>();
}

// A visitor of fields that lists their columns.
class ColumnList {
 public:
  template <class Value>
  void operator()(const results::Field& field, const Value& value) {
    columns_.push_back({field.name, datatype_of(&value), field.unit, field.meaning, field.empty_if});
  }
  // A list has rows in a file of its own. Everything else must be a Field, so that it is described.
  void operator()(const char* /*name*/, const IsList auto& /*list*/) const {}
  // An interval has two columns.
  void operator()(const results::Field& field, const std::optional<measure::Interval>& /*value*/) {
    const std::string name = field.name, meaning = field.meaning;
    columns_.push_back({name + "_low", "double", field.unit, "lower end of the " + meaning, field.empty_if});
    columns_.push_back({name + "_high", "double", field.unit, "upper end of the " + meaning, field.empty_if});
  }

  // Returns the columns, and leaves the object empty.
  std::vector<Column> take() { return std::move(columns_); }

 private:
  std::vector<Column> columns_;
};

// Returns the columns that `visit_columns` visits in a row.
template <class Row>
std::vector<Column> columns_of(const Row& row) {
  ColumnList list;
  visit_columns(list, row);
  return list.take();
}

}  // namespace chexbench::report
