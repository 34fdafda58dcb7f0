// Derives the rule of a key from the C++ type of the member that it sets, and lists the keys of data and learning.
// Private to keys.cpp and data_and_learning_keys.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/keys.hpp"
#include "spec/names.hpp"

namespace chexbench::spec {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Returns the values that a member of type T can have: words of an enum, true or false, a whole number or a number from
// 0 on; an optional may also be null.
template <typename T>
ValueRule rule_of() {
  ValueRule rule;
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [value, word] : named_values<T>()) rule.words.push_back(word);
  } else if constexpr (std::is_same_v<T, bool>) {
    rule.type = ValueType::boolean;
  } else if constexpr (std::is_integral_v<T>) {
    rule.type = ValueType::integer;
    rule.minimum = 0;
    if constexpr (sizeof(T) < sizeof(std::int64_t)) rule.maximum = std::numeric_limits<T>::max();
  } else if constexpr (IsOptional<T>::value || std::is_same_v<T, double>) {
    rule.type = ValueType::number;
    rule.minimum = 0;
    rule.optional = IsOptional<T>::value;
  }
  return rule;
}

// Returns a member as a JSON scalar.
template <typename T>
Value to_value(const T& member) {
  if constexpr (std::is_enum_v<T>) {
    return to_string(member);
  } else if constexpr (IsOptional<T>::value) {
    return member ? Value(*member) : Value();
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<std::int64_t>(member);
  } else {
    return member;
  }
}

// Sets a member to a value that its rule allows.
template <typename T>
void assign(T& member, const Value& value) {
  if constexpr (std::is_enum_v<T>) {
    for (const auto& [candidate, word] : named_values<T>()) {
      if (word == std::get<std::string>(value)) member = candidate;
    }
  } else if constexpr (IsOptional<T>::value) {
    member.reset();
    if (const double* number = std::get_if<double>(&value)) member = *number;
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    member = static_cast<T>(std::get<std::int64_t>(value));
  } else {
    member = std::get<T>(value);
  }
}

// Returns the rule of a key for the member to which `at(experiment)` returns a reference.
template <typename At>
KeyRule key_at(std::string path, std::string description, At at) {
  using T = std::remove_cvref_t<decltype(at(std::declval<TrialSpec&>()))>;
  KeyRule rule{std::move(path), std::move(description), rule_of<T>(), {}, {}, {}, {}};
  rule.get = [=](const TrialSpec& trial) { return to_value(at(trial)); };
  rule.set = [=](TrialSpec& trial, const Value& value) { assign(at(trial), value); };
  return rule;
}

// Returns the rule of a member of a group: key("data.format", &TrialSpec::data, &DataSpec::format, "...").
template <typename Group, typename T>
KeyRule key(std::string path, Group TrialSpec::*group, T Group::*member, std::string description) {
  return key_at(
      std::move(path), std::move(description), [=](auto& trial) -> auto& { return trial.*group.*member; });
}

// The key is a path, in which "~" stands for the home folder.
inline KeyRule path_key(KeyRule rule) {
  rule.values.path = true;
  return rule;
}

inline KeyRule at_least(double minimum, KeyRule rule) {
  rule.values.minimum = minimum;
  return rule;
}

inline KeyRule above(double minimum, KeyRule rule) {
  rule.values.above_minimum = true;
  return at_least(minimum, std::move(rule));
}

inline KeyRule at_most(double maximum, KeyRule rule) {
  rule.values.maximum = maximum;
  return rule;
}

// The keys of the input and its source: data, preprocess and store.

// Appends their rules, in the order in which a spec shows them. Private to keys.cpp.
void add_data_keys(std::vector<KeyRule>& rules);

// The keys of the loss and of the update, except for optimizer and rate.

// Appends their rules, in the order in which a spec shows them. Private to keys.cpp.
void add_learning_keys(std::vector<KeyRule>& rules);

}  // namespace chexbench::spec
