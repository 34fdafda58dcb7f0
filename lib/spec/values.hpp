// Rules for the values of keys and of ops' parameters, and checks of JSON values against them.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "spec/document.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

// A scalar of a spec. std::monostate means that an optional key has no value.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// The values that are allowed.
struct ValueRule {
  ValueType type = ValueType::text;
  std::vector<std::string> words;  // allowed texts, for a numeric type instead of a number; empty: any text for type
                                   // text, none for the others
  std::map<std::string, std::string> aliases;              // older words and the words that replace them
  std::string prefix;                                      // text that begins with this is allowed too, "emulated:"
  double minimum = std::numeric_limits<double>::lowest();  // of numbers, inclusive
  double maximum = std::numeric_limits<double>::max();     // of numbers, inclusive
  bool above_minimum = false;                              // the minimum itself is not allowed
  bool optional = false;                                   // null is allowed
  bool names = false;    // of type text: names, in JSON a list or joined by commas; joined in the value
  bool path = false;     // of type text: a path, in which "~" stands for the home folder
  bool numbers = false;  // with names: JSON may contain numbers instead
};

// Returns the rule of an op's parameter in this form.
ValueRule value_rule(const ParameterRule& parameter);

// Returns what a rule allows, in words: "a whole number of at least 1", "one of 'images', 'tfrecord', 'ready'".
std::string expectation(const ValueRule& rule);

// Returns the value of `node`, converted to the rule's type. Messages call it `path`.
// @throws SpecError if it has the wrong type, is out of range, is not an allowed word, or is a name with a comma
Value check_value(const ValueRule& rule, const Node& node, const std::string& path);

// Converts between the two kinds of values and JSON. to_parameter() needs a non-empty value; an empty value is null in
// JSON.
ParameterValue to_parameter(const Value& value);
Value from_parameter(const ParameterValue& value);
Node to_node(const Value& value);
// Converts a value that `rule` allows to JSON: several names become a list.
Node to_node(const ValueRule& rule, const Value& value);
Node to_node(const ParameterValue& value);

}  // namespace chexbench::spec
