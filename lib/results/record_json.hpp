// Converts records to JSON and back, for report.json, report.html, the journal and doctor: the two visitors that write
// the fields of a record and read them. Only sources that read or write these files include this header, because it
// includes the JSON library.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/printable.hpp"
#include "measure/auroc.hpp"
#include "measure/gpu_sampler.hpp"
#include "measure/gpu_survey.hpp"
#include "measure/scores.hpp"
#include "measure/statistics.hpp"
#include "results/figures.hpp"
#include "results/gpu_summary.hpp"
#include "results/record.hpp"

namespace chexbench::results {

using Json = nlohmann::ordered_json;  // keeps the keys in the order of the fields, for people who read the file

// Numerous records with the same fields are written as one table: the column names once, then one array per record. All
// other lists are arrays of objects.
template <class Record>
inline constexpr bool kIsRow = std::is_same_v<Record, StepRecord> || std::is_same_v<Record, measure::WaitBooking> ||
                               std::is_same_v<Record, OpSample> || std::is_same_v<Record, measure::GpuSample> ||
                               std::is_same_v<Record, LabelScore> || std::is_same_v<Record, TuningPoint>;

// Records that only some trials have: an empty list is left out.
template <class Record>
inline constexpr bool kIsExtra =
    std::is_same_v<Record, EpochRecord> || std::is_same_v<Record, OpTuning> || std::is_same_v<Record, LabelCurves>;

template <class Visitor, class Record>
void visit_all(const Visitor& visit, Record& record) {
  visit_fields(visit, record);
  if constexpr (requires { visit_lists(visit, record); }) visit_lists(visit, record);
}

// Returns an object of columns with a value for each point of the curve, or null.
Json roc_to_json(const measure::RocCurve& curve);

// @throws DataError if the number of values in an array differs from the number of points of the curve
// @throws Json::exception if a value is missing or has another type
measure::RocCurve roc_from_json(const Json& object);

// Writes one field per call into `object`, which must outlive the writer, or into a list, without its name. Undefined
// values (NaN, an empty optional) become null.
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
  void operator()(const char* name, const std::vector<measure::ThrottleShare>& shares) const {
    Json& object = at(name) = Json::object();
    for (const auto& [word, share] : shares) object[word] = share;
  }
  void operator()(const char* name, const std::vector<measure::LibraryVersion>& libraries) const {
    const JsonWriter versions(at(name) = Json::object());
    for (const auto& [library, version] : libraries) versions(library.c_str(), version);
  }
  void operator()(const char* name, const std::vector<std::string>& words) const { at(name) = words; }
  void operator()(const char* name, const measure::RocCurve& curve) const { at(name) = roc_to_json(curve); }
  void operator()(const char* name, const measure::Reliability& reliability) const {
    Json& bins = at(name) = Json::array();
    for (std::size_t i = 0; i < reliability.size(); ++i) {
      const measure::ReliabilityBin& bin = reliability[i];
      const JsonWriter write(bins.emplace_back(Json::object()));
      write("from", static_cast<double>(i) / measure::kReliabilityBins);
      write("to", static_cast<double>(i + 1) / measure::kReliabilityBins);
      write("images", bin.images);
      write("positives", bin.positives);
      write("sum_of_probabilities", bin.sum_of_probabilities);
      write("mean_probability", bin.mean_probability());
      write("share_of_positives", bin.share_of_positives());
    }
  }
  template <class Record>
  void operator()(const char* name, const std::vector<Record>& records) const {
    if (kIsExtra<Record> && records.empty()) return;
    Json list = Json::array();
    for (const Record& record : records)
      visit_all(JsonWriter(list.emplace_back(kIsRow<Record> ? Json::array() : Json::object())), record);
    at(name) = kIsRow<Record> ? table_of(std::move(list), Record{}) : std::move(list);
  }

 private:
  Json& at(const char* name) const { return object_.is_array() ? object_.emplace_back() : object_[name]; }
  template <class Record>
  static Json table_of(Json rows, const Record& any) {
    Json columns = Json::array();
    visit_fields([&columns](const char* name, const auto&) { columns.push_back(name); }, any);
    return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
  }

  Json& object_;
};

// Reads one field per call from `object`, which must outlive the reader. A missing key leaves the value unchanged, so
// that files from before a field was added can be read; null becomes NaN in a double and an empty optional.
// @throws DataError if a number does not fit the field or exceeds kLargestMeasured: casting it would be undefined, and
// sums over it meaningless
// @throws Json::exception if a value has another type than the field
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
    value = measure::Interval{found->at(0).get<double>(), found->at(1).get<double>()};
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
      if (!item.value().is_null()) library.version = item.value().get<std::string>();
    }
  }
  void operator()(const char* name, std::vector<std::string>& words) const {
    if (const auto found = find(name); found != object_.end()) found->get_to(words);
  }
  void operator()(const char* name, measure::RocCurve& curve) const { curve = roc_from_json(object_.at(name)); }
  void operator()(const char* name, measure::Reliability& reliability) const {
    const Json& array = object_.at(name);
    if (array.size() != reliability.size())
      throw DataError(fmt::format("'{}' has {} bins, not {}", name, array.size(), reliability.size()));
    for (std::size_t i = 0; i < reliability.size(); ++i) {
      const JsonReader read(array[i]);
      read("images", reliability[i].images);
      read("positives", reliability[i].positives);
      read("sum_of_probabilities", reliability[i].sum_of_probabilities);
    }
  }
  template <class Record>
  void operator()(const char* name, std::vector<Record>& records) const {
    const auto found = find(name);
    if (found == object_.end()) return;
    if constexpr (kIsRow<Record>) {
      const Json& columns = found->at("columns");
      Json record = Json::object();  // shared by all rows, which have the same names
      for (const Json& column : columns) record[column.get<std::string>()];
      std::vector<Json*> places;
      for (const Json& column : columns) places.push_back(&record[column.get<std::string>()]);
      for (const Json& row : found->at("rows")) {
        for (std::size_t i = 0; i < places.size(); ++i) *places[i] = row.at(i);
        visit_all(JsonReader(record), records.emplace_back());
      }
    } else {
      for (const Json& object : *found) visit_all(JsonReader(object), records.emplace_back());
    }
  }

 private:
  // Fields are read in the order in which they were written, so it is nearly always the next one.
  Json::const_iterator find(const char* name) const {
    const bool is_next = next_ != object_.end() && next_.key() == name;
    const auto found = is_next ? next_ : object_.find(name);
    if (found != object_.end()) next_ = std::next(found);
    return found;
  }
  template <class Value>
  static bool fits(const Json& number) {
    if (number.is_number_unsigned()) return std::in_range<Value>(number.get<std::uint64_t>());
    return number.is_number_integer() && std::in_range<Value>(number.get<std::int64_t>());
  }
  [[noreturn]] static void fail(const char* name, const Json& value, const char* expected) {
    throw DataError(fmt::format("{} is {}, and not {}", name, printable(value.dump()), expected));
  }

  const Json& object_;
  mutable Json::const_iterator next_;
};

// Returns a repeat as an object, with steps and samples as tables and with the summaries of step times and GPUs.
Json repeat_to_json(const RepeatResult& repeat);

// Reads what repeat_to_json() wrote; the summaries are ignored. Keys that are missing keep their defaults.
// @throws DataError if a number is out of range
// @throws Json::exception if the object has another form
RepeatResult repeat_from_json(const Json& object);

// Returns the JSON on one line. Bytes that are not UTF-8 are replaced.
std::string dump(const Json& value);

// Returns the output of dump(), spread over lines for people, one step per line: each member of an object and each item
// of a list gets its own line, indented by two spaces, but a list of plain values stays on one.
std::string spread(std::string_view json);

// @throws DataError if the object's schema_version is not kSchemaVersion
void check_version(const Json& object);

// Parses `text` and returns take(parsed). Errors begin with `name`.
// @throws DataError if the text is not JSON, is nested more than kMaxJsonDepth deep, or if take() throws a
// Json::exception or an Error
template <class Take>
auto read_json(std::string_view text, const std::string& name, Take take) {
  constexpr std::size_t kMostWords = 400;  // bytes of the JSON library's message, which quotes the text
  try {
    if (is_nested_too_deep(text)) throw DataError(fmt::format("nested more than {} deep", kMaxJsonDepth));
    return take(Json::parse(text));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not a result of chexbench: {}", name, printable(error.what(), kMostWords)));
  } catch (const Error& error) {
    throw DataError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace chexbench::results
