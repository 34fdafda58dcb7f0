#include "spec/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/folder.hpp"

namespace chexbench::spec {
namespace {

// Messages mention limits above this only if a value exceeds them.
constexpr double kWide = std::numeric_limits<std::int32_t>::max();

bool is_numeric(const ValueRule& rule) { return rule.type == ValueType::integer || rule.type == ValueType::number; }

std::string range_in_words(const ValueRule& rule) {
  const ValueRule unbounded;
  std::string words;
  if (rule.minimum > unbounded.minimum)
    words = fmt::format(" {} {}", rule.above_minimum ? "above" : "of at least", rule.minimum);
  if (rule.maximum < kWide || (rule.type == ValueType::number && rule.maximum < unbounded.maximum)) {
    words += fmt::format("{} at most {:.15g}", words.empty() ? " of" : " and", rule.maximum);
  }
  return words;
}

std::string words_in_words(const ValueRule& rule) {
  std::string words;
  for (const std::string& word : rule.words) words += fmt::format("{}'{}'", words.empty() ? "" : ", ", word);
  if (!rule.prefix.empty()) words += fmt::format(", '{}NAME'", rule.prefix);
  return words;
}

bool in_range(const ValueRule& rule, double number) {
  return number <= rule.maximum && (rule.above_minimum ? number > rule.minimum : number >= rule.minimum);
}

bool is_allowed_text(const ValueRule& rule, const std::string& text) {
  if (rule.type == ValueType::boolean) return false;
  if (std::ranges::find(rule.words, text) != rule.words.end()) return true;
  if (!rule.prefix.empty() && text.size() > rule.prefix.size() && text.starts_with(rule.prefix)) return true;
  return rule.type == ValueType::text && rule.words.empty();
}

// Returns the number in `node` if `rule` allows it, and an empty value otherwise.
Value number_of(const ValueRule& rule, const Node& node) {
  const std::int64_t* integer = std::get_if<std::int64_t>(&node.value);
  const double* number = std::get_if<double>(&node.value);
  if (integer == nullptr && number == nullptr) return {};
  const double value = integer != nullptr ? static_cast<double>(*integer) : *number;
  if (!std::isfinite(value) || !in_range(rule, value)) return {};
  if (rule.type == ValueType::number) return value;
  if (integer != nullptr) return *integer;
  constexpr double kExact = 9007199254740992.0;  // 2^53: up to here a double can hold every whole number
  if (std::trunc(value) != value || std::abs(value) > kExact) return {};
  return static_cast<std::int64_t>(value);
}

// Returns a suggestion to append to the message, or "".
std::string hint(const ValueRule& rule, const Node& node) {
  if (rule.names) return "";
  if (node.list() != nullptr) return "; to try several values, put the list under \"sweep\"";
  if (const std::string* text = node.text()) {
    std::vector<std::string> candidates = rule.words;
    if (!rule.prefix.empty()) candidates.push_back(rule.prefix);
    const std::size_t colon = text->find(':');
    const std::string nearest =
        nearest_name(text->substr(0, colon == std::string::npos ? colon : colon + 1), candidates);
    return nearest.empty() || nearest == *text ? "" : fmt::format(" (did you mean '{}'?)", nearest);
  }
  const std::int64_t* integer = std::get_if<std::int64_t>(&node.value);
  const bool too_large = integer != nullptr && rule.type == ValueType::integer && rule.maximum >= kWide &&
                         static_cast<double>(*integer) > rule.maximum;
  return too_large ? fmt::format(" (at most {:.15g})", rule.maximum) : "";
}

// Splits a text at commas and trims the names.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view name = trimmed(text.substr(0, comma)); !name.empty()) names.emplace_back(name);
    if (comma == text.size()) return names;
    text.remove_prefix(comma + 1);
  }
}

// Returns a JSON number as the shortest text that restores it, or an empty value for other nodes.
Value number_text(const Node& node) {
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&node.value)) return fmt::to_string(*integer);
  if (const double* number = std::get_if<double>(&node.value)) return fmt::to_string(*number);
  return {};
}

// Returns the names of a list. Messages call it `path`.
// @throws SpecError if an element is not a name, or contains a comma
std::vector<std::string> names_in(const ValueRule& rule, const List& list, const std::string& path) {
  std::vector<std::string> names;
  for (const Node& node : list) {
    if (const Value number = number_text(node); rule.numbers && std::holds_alternative<std::string>(number)) {
      names.push_back(std::get<std::string>(number));
      continue;
    }
    const std::string place = fmt::format("{}[{}]", path, names.size());
    const std::string* text = node.text();
    if (text == nullptr || trimmed(*text).empty()) {
      throw SpecError(fmt::format("{} must be a name, not {}", place, describe(node)));
    }
    if (text->find(',') != std::string::npos) {
      std::string pattern = *text;
      std::ranges::replace(pattern, ',', '*');
      throw SpecError(
          fmt::format("{}: '{}' has a comma, which separates names: give each name by itself, or a pattern "
                      "such as '{}' if it is one",
                      place, shown(*text), shown(pattern)));
    }
    names.emplace_back(trimmed(*text));
  }
  return names;
}

// Returns the names of `node` joined by commas, or an empty value if there are none.
Value names_of(const ValueRule& rule, const Node& node, const std::string& path) {
  if (rule.numbers && !std::holds_alternative<std::monostate>(number_text(node))) return number_text(node);
  std::vector<std::string> names;
  if (const std::string* text = node.text()) names = names_in(*text);
  if (const List* list = node.list()) names = names_in(rule, *list, path);
  if (names.empty()) return {};
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

ValueRule value_rule(const ParameterRule& parameter) {
  ValueRule rule;
  rule.type = parameter.type;
  rule.words = parameter.words;
  if (is_numeric(rule)) {
    rule.minimum = parameter.minimum;
    rule.maximum = parameter.maximum;
  }
  return rule;
}

std::string expectation(const ValueRule& rule) {
  const std::string words = words_in_words(rule);
  std::string result;
  switch (rule.type) {
    case ValueType::boolean:
      result = "true or false";
      break;
    case ValueType::integer:
      result = "a whole number" + range_in_words(rule);
      break;
    case ValueType::number:
      result = "a number" + range_in_words(rule);
      break;
    case ValueType::text:
      result = rule.numbers    ? "words or numbers: a list, or one text with commas between them"
               : rule.names    ? "names: a list of texts, or one text with commas between them"
               : words.empty() ? "text"
                               : (rule.words.size() == 1 && rule.prefix.empty() ? words : "one of " + words);
      break;
  }
  if (rule.type != ValueType::text && !words.empty()) result += ", or " + words;
  return rule.optional ? result + ", or null" : result;
}

Value check_value(const ValueRule& rule, const Node& node, const std::string& path) {
  if (node.is_null() && rule.optional) return {};
  if (rule.names) {
    Value names = names_of(rule, node, path);
    if (!std::holds_alternative<std::monostate>(names)) return names;
  } else if (const std::string* text = node.text()) {
    if (const auto alias = rule.aliases.find(*text); alias != rule.aliases.end()) return alias->second;
    if (is_allowed_text(rule, *text)) return rule.path ? with_home(*text, path) : *text;
  } else if (const bool* flag = std::get_if<bool>(&node.value)) {
    if (rule.type == ValueType::boolean) return *flag;
  } else if (is_numeric(rule)) {
    Value number = number_of(rule, node);
    if (!std::holds_alternative<std::monostate>(number)) return number;
  }
  throw SpecError(fmt::format("{} must be {}, not {}{}", path, expectation(rule), describe(node), hint(rule, node)));
}

ParameterValue to_parameter(const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag;
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const double* number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

Value from_parameter(const ParameterValue& value) {
  return std::visit([](const auto& held) { return Value(held); }, value);
}

Node to_node(const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return Node{};
  return to_node(to_parameter(value));
}

Node to_node(const ValueRule& rule, const Value& value) {
  if (!rule.names) return to_node(value);
  const std::vector<std::string> names = names_in(std::get<std::string>(value));
  if (names.size() < 2) return to_node(value);
  List list;
  for (const std::string& name : names) list.push_back(Node{name});
  return Node{std::move(list)};
}

Node to_node(const ParameterValue& value) {
  return std::visit([](const auto& held) { return Node{held}; }, value);
}

}  // namespace chexbench::spec
