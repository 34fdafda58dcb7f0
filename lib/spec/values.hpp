// The values that a key or a parameter of an op may have, and checking a JSON value against them.
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "spec/document.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

// A scalar of a spec; nothing (monostate) where an optional key has no value.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// What values are allowed.
struct ValueRule {
  ValueType type = ValueType::text;
  std::vector<std::string> words;  // text that is allowed, for numbers instead of one; empty: any text, or none
  std::string prefix;              // of text that is allowed besides the words, "emulated:"
  double minimum = std::numeric_limits<double>::lowest();
  double maximum = std::numeric_limits<double>::max();
  bool above_minimum = false;  // the minimum itself is not allowed
  bool optional = false;       // null is allowed
};

ValueRule value_rule(const ParameterRule& parameter);

// "a whole number of at least 1", "one of 'png', 'tfrecord', 'synthetic'".
std::string expectation(const ValueRule& rule);

// The value of `node`, which stands at `path`. @throws SpecError: wrong type, out of range, not one of the words
Value check_value(const ValueRule& rule, const Node& node, const std::string& path);

ParameterValue to_parameter(const Value& value);  // `value` is not empty
Node to_node(const Value& value);
Node to_node(const ParameterValue& value);

}  // namespace chexbench::spec
