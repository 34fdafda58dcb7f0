// Visits the fields of a row and writes them to a JSON object. For the verbs' own files: their public headers show no
// JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace chexbench::verbs {

// Gives `object` a field for each call, in the order of the calls. Empty optionals become null, and so do numbers that
// are not finite.
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
