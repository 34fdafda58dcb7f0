#include "results/record_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "measure/statistics.hpp"
#include "results/gpu_summary.hpp"

namespace chexbench::results {
namespace {

Json step_time_summary(const std::vector<StepRecord>& steps) {
  std::vector<double> walls_s;
  for (const StepRecord& step : steps) walls_s.push_back(step.timings.wall_s);
  if (walls_s.empty()) return nullptr;
  const double median_s = measure::median(walls_s);
  std::sort(walls_s.begin(), walls_s.end());
  const std::size_t p95 = (walls_s.size() * 95 + 99) / 100 - 1;  // nearest rank
  return {{"steps", walls_s.size()},
          {"min_s", walls_s.front()},
          {"median_s", median_s},
          {"p95_s", walls_s[p95]},
          {"max_s", walls_s.back()}};
}

// Inserts a derived value before the one named `before`.
void insert(Json& object, const char* before, const char* name, const Json& value) {
  Json all = Json::object();
  for (auto& item : object.items()) {
    if (item.key() == before) all[name] = value;
    all[item.key()] = std::move(item.value());
  }
  object = std::move(all);
}

// Returns the index after the text that begins at `begin`.
std::size_t end_of_text(std::string_view json, std::size_t begin) {
  std::size_t at = begin + 1;
  while (json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return at + 1;
}

// Returns the index after the list or object that begins at `begin`, or `begin` if it contains others.
std::size_t end_of_plain(std::string_view json, std::size_t begin) {
  for (std::size_t at = begin + 1;;) {
    const char c = json[at];
    if (c == ']' || c == '}') return at + 1;
    if (c == '[' || c == '{' || (json[begin] == '{')) return begin;
    at = c == '"' ? end_of_text(json, at) : at + 1;
  }
}

}  // namespace

Json roc_to_json(const measure::RocCurve& curve) {
  Json object = {{"false_positive_rate", Json::array()},
                 {"sensitivity", Json::array()},
                 {"sensitivity_ci95_low", Json::array()},
                 {"sensitivity_ci95_high", Json::array()}};
  const auto add = [&object](const char* column, const std::optional<double>& value) {
    object[column].push_back(value ? Json(*value) : Json(nullptr));
  };
  for (std::size_t point = 0; point < curve.size(); ++point) {
    const measure::Estimate& estimate = curve[point];
    add("false_positive_rate", measure::false_positive_rate_at(point));
    add("sensitivity", estimate.value);
    add("sensitivity_ci95_low", estimate.ci95 ? std::optional(estimate.ci95->low) : std::nullopt);
    add("sensitivity_ci95_high", estimate.ci95 ? std::optional(estimate.ci95->high) : std::nullopt);
  }
  return object;
}

measure::RocCurve roc_from_json(const Json& object) {
  const auto column = [&object](const char* name) -> const Json& {
    const Json& values = object.at(name);
    if (values.size() == measure::kRocPoints) return values;
    throw DataError(fmt::format("'{}' has {} values, not {}", name, values.size(), measure::kRocPoints));
  };
  const Json &sensitivity = column("sensitivity"), &low = column("sensitivity_ci95_low"),
             &high = column("sensitivity_ci95_high");
  measure::RocCurve curve;
  for (std::size_t point = 0; point < curve.size(); ++point) {
    if (!sensitivity[point].is_null()) curve[point].value = sensitivity[point].get<double>();
    if (!low[point].is_null() && !high[point].is_null())
      curve[point].ci95 = measure::Interval{low[point].get<double>(), high[point].get<double>()};
  }
  return curve;
}

Json repeat_to_json(const RepeatResult& repeat) {
  Json object = Json::object();
  visit_all(JsonWriter(object), repeat);
  insert(object, "steps", "step_times", step_time_summary(repeat.steps));
  for (std::size_t i = 0; i < repeat.gpus.size(); ++i) {
    const measure::GpuWindow window = summarize_gpu(repeat, repeat.gpus[i]);
    Json figures = Json::object();
    visit_fields(JsonWriter(figures), window);
    insert(object["gpus"][i], "samples", "figures", figures);
  }
  return object;
}

RepeatResult repeat_from_json(const Json& object) {
  for (const char* name : {"ops", "steps"}) static_cast<void>(object.at(name));  // present even in the oldest versions
  RepeatResult repeat;
  visit_all(JsonReader(object), repeat);
  return repeat;
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string spread(std::string_view json) {
  std::string text, line = "\n";
  text.reserve(json.size() + json.size() / 2);
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    const bool opens = c == '[' || c == '{';
    const std::size_t end = opens ? end_of_plain(json, at) : c == '"' ? end_of_text(json, at) : at;
    if (end > at) {
      text += json.substr(at, end - at);
      at = end;
      continue;
    }
    if (opens) line += "  ";
    const bool closes = c == ']' || c == '}';
    if (closes) line.resize(line.size() - 2);
    if (closes) text += line;
    text += c;
    if (opens || c == ',') text += line;
    if (c == ':') text += ' ';
    ++at;
  }
  return text;
}

void check_version(const Json& object) {
  int version = 0;  // if the key is missing
  const JsonReader read(object);
  read("schema_version", version);
  if (const std::string refusal = refusal_of_version(version, kSchemaVersion); !refusal.empty())
    throw DataError(refusal);
  if (version != kSchemaVersion) {
    throw DataError(fmt::format("its schema_version is {}, and this chexbench reads {}", version, kSchemaVersion));
  }
}

}  // namespace chexbench::results
