// The two visitors of fields.hpp that put a record into a JSON object and take it out again. Templates over the JSON
// type, so that only json.cpp knows the library.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "measure/statistics.hpp"

namespace chexbench::report {

template <class Json>
class JsonWriter {
 public:
  explicit JsonWriter(Json& object) : object_(object) {}

  template <class Value>
  void operator()(const char* name, const Value& value) const {
    object_[name] = value;
  }
  void operator()(const char* name, double value) const {  // JSON knows no NaN
    object_[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  }
  void operator()(const char* name, const std::optional<double>& value) const {
    (*this)(name, value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  void operator()(const char* name, const std::optional<measure::Interval>& value) const {
    object_[name] = value ? Json::array({value->low, value->high}) : Json(nullptr);
  }

 private:
  Json& object_;
};

template <class Json>
class JsonReader {
 public:
  explicit JsonReader(const Json& object) : object_(object) {}

  template <class Value>
  void operator()(const char* name, Value& value) const {
    const auto found = object_.find(name);
    if (found == object_.end()) return;
    if constexpr (std::is_same_v<Value, double>) {
      value = found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->template get<double>();
    } else {
      found->get_to(value);
    }
  }

 private:
  const Json& object_;
};

}  // namespace chexbench::report
