// The two visitors of fields.hpp that write the fields of a record into a JSON object, and read them from one. They are
// templates over the JSON type, so that this header does not include the library.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "measure/gpu_libraries.hpp"
#include "measure/gpu_window.hpp"
#include "measure/statistics.hpp"
#include "results/fields.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"

namespace chexbench::results {

// The seconds, rates and counts of any machine are far below this. Larger numbers come from the loss of a network that
// diverges. They are written as null, because the reader accepts no number above this limit.
inline constexpr double kLargestMeasured = 1e18;
inline bool is_measured(double value) { return std::abs(value) <= kLargestMeasured; }

// Writes one field per call into `object`, which must outlive the writer, or without its name into a list. Undefined
// values (NaN, an empty optional) become null.
template <class Json>
class JsonWriter {
 public:
  explicit JsonWriter(Json& object) : object_(object) {}

  template <class Value>
  void operator()(const char* name, const Value& value) const {
    at(name) = value;
  }
  void operator()(const char* name, double value) const {  // JSON has no NaN
    at(name) = is_measured(value) ? Json(value) : Json(nullptr);
  }
  template <class Value>
  void operator()(const char* name, const std::optional<Value>& value) const {
    value ? (*this)(name, *value) : (*this)(name, nullptr);
  }
  void operator()(const char* name, const std::optional<measure::Interval>& value) const {
    const bool has_both = value && is_measured(value->low) && is_measured(value->high);
    at(name) = has_both ? Json::array({value->low, value->high}) : Json(nullptr);
  }
  // Writes a list of words as one string, so that a sample stays a row of plain values.
  void operator()(const char* name, const std::optional<std::vector<std::string>>& reasons) const {
    (*this)(name, reasons ? std::optional(reasons_text(*reasons)) : std::nullopt);
  }
  void operator()(const char* name, const std::vector<WaitShare>& waits) const {
    Json& rows = at(name) = Json::array();
    for (const auto& [op_index, op, part, share] : waits)
      rows.push_back({{"op_index", op_index}, {"op", op}, {"part", part}, {"share", share}});
  }
  void operator()(const char* name, const std::vector<measure::ThrottleShare>& shares) const {
    Json& object = at(name) = Json::object();
    for (const auto& [word, share] : shares) object[word] = share;
  }
  void operator()(const char* name, const std::vector<measure::LibraryVersion>& libraries) const {
    const JsonWriter versions(at(name) = Json::object());
    for (const auto& [library, version] : libraries) versions(library.c_str(), version);
  }
  void operator()(const char* name, const std::vector<HostState>& hosts) const {
    Json& rows = at(name) = Json::array();
    for (const HostState& host : hosts) visit_host(JsonWriter(rows.emplace_back(Json::object())), host);
  }

 private:
  Json& at(const char* name) const { return object_.is_array() ? object_.emplace_back() : object_[name]; }

  Json& object_;
};

// Reads one field per call from `object`, which must outlive the reader. A missing key leaves the value as it is, so
// that files from before a field was added can be read; null becomes NaN in a double, and leaves an optional empty.
// @throws DataError if a number does not fit the field or exceeds kLargestMeasured: casting it would be undefined, and
// sums over it would mean nothing
// @throws Json::exception if a value has another type than the field
template <class Json>
class JsonReader {
 public:
  explicit JsonReader(const Json& object)
      : object_(object), next_(object.is_object() ? object.begin() : object.end()) {}

  template <class Value>
  void operator()(const char* name, Value& value) const {
    const auto found = find(name);
    if (found == object_.end()) return;
    if constexpr (std::is_same_v<Value, double>) {
      value = found->is_null() ? std::numeric_limits<double>::quiet_NaN() : found->template get<double>();
      if (std::abs(value) > kLargestMeasured) fail(name, *found, "a measured number");
    } else {
      if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
        if (!fits<Value>(*found)) fail(name, *found, "a whole number in range");
      }
      found->get_to(value);
    }
  }
  template <class Value>
  void operator()(const char* name, std::optional<Value>& value) const {
    const auto found = find(name);
    if (found != object_.end() && !found->is_null()) (*this)(name, value.emplace());
  }
  void operator()(const char* name, std::optional<measure::Interval>& value) const {
    const auto found = find(name);
    if (found == object_.end() || found->is_null()) return;
    value = measure::Interval{found->at(0).template get<double>(), found->at(1).template get<double>()};
  }
  void operator()(const char* name, std::optional<std::vector<std::string>>& reasons) const {
    std::optional<std::string> text;
    (*this)(name, text);
    if (text) reasons = reasons_from_text(*text);
  }
  void operator()(const char* name, std::vector<measure::LibraryVersion>& libraries) const {
    const auto found = find(name);
    if (found == object_.end()) return;
    for (const auto& item : found->items()) {
      measure::LibraryVersion& library = libraries.emplace_back(measure::LibraryVersion{.name = item.key()});
      if (!item.value().is_null()) library.version = item.value().template get<std::string>();
    }
  }
  void operator()(const char* name, std::vector<HostState>& hosts) const {
    const auto found = find(name);
    if (found == object_.end()) return;
    for (const Json& host : *found) visit_host(JsonReader(host), hosts.emplace_back());
  }

 private:
  // Fields are read in the order in which they were written, so the next one is nearly always it.
  auto find(const char* name) const {
    const bool is_next = next_ != object_.end() && next_.key() == name;
    const auto found = is_next ? next_ : object_.find(name);
    if (found != object_.end()) next_ = std::next(found);
    return found;
  }
  template <class Value>
  static bool fits(const Json& number) {
    if (number.is_number_unsigned()) return std::in_range<Value>(number.template get<std::uint64_t>());
    return number.is_number_integer() && std::in_range<Value>(number.template get<std::int64_t>());
  }
  [[noreturn]] static void fail(const char* name, const Json& value, const char* expected) {
    throw DataError(fmt::format("{} is {}, and not {}", name, printable(value.dump()), expected));
  }

  const Json& object_;
  mutable typename Json::const_iterator next_;
};

}  // namespace chexbench::results
