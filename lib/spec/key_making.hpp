// Makes the rule of a key from the C++ type of the member that it sets, its limits, and the trials to which it applies.
// Private to keys.cpp, data_keys.cpp and training_keys.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/keys.hpp"
#include "spec/trial_spec.hpp"

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
    for (const auto& [value, word] : named_values<T>()) {
      if (word == to_string(value)) {
        rule.words.push_back(word);
      } else {
        rule.aliases.emplace(word, to_string(value));
      }
    }
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

// A rule that is being made: each function restricts it further.
struct Key : KeyRule {
  Key& at_least(double minimum) {
    values.minimum = minimum;
    return *this;
  }
  Key& above(double minimum) {
    values.above_minimum = true;
    return at_least(minimum);
  }
  Key& at_most(double maximum) {
    values.maximum = maximum;
    return *this;
  }
  Key& one_of(std::vector<std::string> words, std::string_view or_prefix = "") {
    values.words = std::move(words);
    values.prefix = or_prefix;
    return *this;
  }
  // The value is a path, in which "~" stands for the home folder.
  Key& is_path() {
    values.path = true;
    return *this;
  }
  Key& is_list(bool of_numbers = false) {
    values.names = true;
    values.numbers = of_numbers;
    return *this;
  }
  // Stating the key is an error if the condition holds in none of the trials; so is sweeping it in other trials.
  Key& only_where(const Condition& condition) {
    stated_where = condition;
    return *this;
  }
  // In other trials the key may be stated but not swept, so that --set engine=none or data.format=ready works on
  // any spec.
  Key& has_effect_where(const Condition& condition) {
    swept_where = condition;
    return *this;
  }
};

// Returns the rule of a key for the member to which `at(trial)` returns a reference.
template <typename At>
Key key_at(const std::string& path, At at, const std::string& description) {
  using T = std::remove_cvref_t<decltype(at(std::declval<TrialSpec&>()))>;
  return {{.path = path,
           .description = description,
           .values = rule_of<T>(),
           .get = [=](const TrialSpec& trial) { return to_value(at(trial)); },
           .set = [=](TrialSpec& trial, const Value& value) { assign(at(trial), value); },
           .stated_where = {},
           .swept_where = {}}};
}

// Returns the rule of a member of a group: key("data.format", &TrialSpec::data, &DataSpec::format, "...").
template <typename Group, typename T>
Key key(const std::string& path, Group TrialSpec::*group, T Group::*member, const std::string& description) {
  return key_at(
      path, [=](auto& trial) -> auto& { return trial.*group.*member; }, description);
}

// The longest time that a key may ask for.
inline constexpr double kLongestWaitS = 1e9;  // 32 years; in nanoseconds it fits in 64 bits

// Return the rules of some keys, in the order in which a spec shows them.
std::vector<KeyRule> data_keys();
std::vector<KeyRule> preprocess_keys();
std::vector<KeyRule> store_keys();
std::vector<KeyRule> model_keys();
std::vector<KeyRule> step_keys();
std::vector<KeyRule> update_keys();
std::vector<KeyRule> epoch_keys();
std::vector<KeyRule> cuda_keys();

}  // namespace chexbench::spec
