// What the JSON of all verbs has in common. For their source files: their headers expose no JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"

namespace chexbench::verbs {

using Json = nlohmann::ordered_json;  // keeps the order of keys, for readers

// Returns the text of an object: indented, and with U+FFFD in place of invalid UTF-8.
inline std::string indented_json(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Returns null for an empty optional, and its value otherwise.
template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Returns [low, high], or null.
inline Json interval_to_json(const std::optional<measure::Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

// Returns the list of what `to_json` makes of each item.
template <class Item, class Convert>
Json list_of(const std::vector<Item>& items, Convert to_json) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(to_json(item));
  return list;
}

// A visitor of fields that adds each to `object`, in order. Empty optionals and numbers that are not finite become
// null.
struct ToJson {
  Json& object;
  template <class Value>
  void operator()(const char* name, const Value& value) const {
    object[name] = value;
  }
  void operator()(const char* name, const std::optional<double>& value) const { object[name] = or_null(value); }
};

}  // namespace chexbench::verbs
