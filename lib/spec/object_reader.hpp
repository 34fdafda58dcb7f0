// Reads the members of one object of a JSON file that is not an experiment. Private to this room.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spec/document.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {

// Returns the rule of values of this type, with inclusive limits of a number.
ValueRule value_rule(ValueType type, double minimum = 0, double maximum = 1e9);

// Members of one object; errors name the JSON path. Holds a pointer to the node, which must stay valid.
class ObjectReader {
 public:
  // @throws SpecError if the node is not an object, or has a key that is not in `keys` (with the nearest one)
  ObjectReader(const Node& node, std::string path, const std::vector<std::string>& keys);

  bool has(const std::string& key) const { return find_member(*object_, key) != nullptr; }
  // The following throw SpecError if the key is missing or its value is not allowed.
  const Node& node(const std::string& key) const;
  Value value(const std::string& key, const ValueRule& allowed) const;
  std::string text(const std::string& key) const;  // not empty
  int count(const std::string& key) const;         // at least 1
  bool boolean(const std::string& key) const { return std::get<bool>(value(key, value_rule(ValueType::boolean))); }
  double number(const std::string& key, const ValueRule& allowed) const {
    return std::get<double>(value(key, allowed));
  }
  double number_or(const std::string& key, const ValueRule& allowed, double fallback) const {
    return has(key) ? number(key, allowed) : fallback;
  }

 private:
  const Object* object_ = nullptr;
  std::string path_;
};

}  // namespace chexbench::spec
