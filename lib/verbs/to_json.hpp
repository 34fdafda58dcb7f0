// Visits the fields of a row and writes them to a JSON object. For the verbs' source files: their public headers expose
// no JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace chexbench::verbs {

// Adds a field to `object` for each call, in order. Empty optionals and numbers that are not finite become null.
struct ToJson {
  nlohmann::ordered_json& object;
  template <class Value>
  void operator()(const char* name, const Value& value) const {
    object[name] = value;
  }
  void operator()(const char* name, const std::optional<double>& value) const {
    object[name] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  }
};

}  // namespace chexbench::verbs
