#include "results/repeat_json.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <vector>
#include "core/errors.hpp"
#include "core/format_version.hpp"

#include "measure/statistics.hpp"
#include "results/curves_json.hpp"
#include "results/fields.hpp"
#include "results/gpu_fields.hpp"
#include "results/gpu_summary.hpp"
#include "results/json_visitors.hpp"

namespace chexbench::results {
namespace {

constexpr auto kVisitStep = [](auto&& visitor, auto& step) { visit_step(visitor, step); };
constexpr auto kVisitWait = [](auto&& visitor, auto& booking) { visit_wait(visitor, booking); };
constexpr auto kVisitOpSample = [](auto&& visitor, auto& sample) { visit_op_sample(visitor, sample); };
constexpr auto kVisitPoint = [](auto&& visitor, auto& point) { visit_tuning_point(visitor, point); };
constexpr auto kVisitScore = [](auto&& visitor, auto& score) { visit_label_score(visitor, score); };
constexpr auto kVisitSample = [](auto&& visitor, auto& sample) { visit_gpu_sample(visitor, sample); };

// Steps and samples are many and have the same fields, so they become one table: the column names once, then one array
// per record.
template <class Record, class Visit>
Json rows_to_json(const std::vector<Record>& records, Visit visit) {
  Json columns = Json::array();
  Json rows = Json::array();
  const Record any;
  visit([&columns](const char* name, const auto&) { columns.push_back(name); }, any);
  for (const Record& record : records) {
    Json& row = rows.emplace_back(Json::array());
    visit(JsonWriter(row), record);
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

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

Json gpu_to_json(const RepeatResult& repeat, const GpuSeries& gpu) {
  Json object = Json::object();
  visit_gpu_series(JsonWriter(object), gpu);
  const measure::GpuWindow figures = summarize_gpu(repeat, gpu);
  visit_gpu_window(JsonWriter(object["figures"] = Json::object()), figures);
  object["samples"] = rows_to_json(gpu.samples, kVisitSample);
  return object;
}

Json epochs_to_json(const std::vector<EpochRecord>& epochs) {
  Json array = Json::array();
  for (const EpochRecord& epoch : epochs) {
    Json& object = array.emplace_back(Json::object());
    visit_epoch(JsonWriter(object), epoch);
    object["findings"] = rows_to_json(epoch.scores, kVisitScore);
    if (!epoch.curves.empty()) object["curves"] = curves_to_json<Json>(epoch.curves);
  }
  return array;
}

Json tunings_to_json(const std::vector<OpTuning>& tunings) {
  Json array = Json::array();
  for (const OpTuning& tuning : tunings) {
    Json& object = array.emplace_back(Json::object());
    visit_tuning(JsonWriter(object), tuning);
    object["points"] = rows_to_json(tuning.points, kVisitPoint);
  }
  return array;
}

template <class Record, class Visit>
std::vector<Record> rows_from_json(const Json& object, Visit visit) {
  std::vector<Record> records;
  const Json& columns = object.at("columns");
  Json record = Json::object();  // one for all rows, which have the same names
  for (const Json& name : columns) record[name.get<std::string>()];
  std::vector<Json*> places;
  for (const Json& name : columns) places.push_back(&record[name.get<std::string>()]);
  for (const Json& row : object.at("rows")) {
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = row.at(i);
    visit(JsonReader(record), records.emplace_back());
  }
  return records;
}

GpuSeries gpu_from_json(const Json& object) {
  GpuSeries gpu;
  visit_gpu_series(JsonReader(object), gpu);
  gpu.samples = rows_from_json<measure::GpuSample>(object.at("samples"), kVisitSample);
  return gpu;
}

std::vector<EpochRecord> epochs_from_json(const Json& array) {
  std::vector<EpochRecord> epochs;
  for (const Json& object : array) {
    visit_epoch(JsonReader(object), epochs.emplace_back());
    epochs.back().scores = rows_from_json<LabelScore>(object.at("findings"), kVisitScore);
    if (const auto found = object.find("curves"); found != object.end())
      epochs.back().curves = curves_from_json(*found);
  }
  return epochs;
}

std::vector<OpTuning> tunings_from_json(const Json& array) {
  std::vector<OpTuning> tunings;
  for (const Json& object : array) {
    visit_tuning(JsonReader(object), tunings.emplace_back());
    tunings.back().points = rows_from_json<TuningPoint>(object.at("points"), kVisitPoint);
  }
  return tunings;
}

}  // namespace

Json repeat_to_json(const RepeatResult& repeat) {
  Json object = Json::object();
  visit_repeat(JsonWriter(object), repeat);
  Json ops = Json::array();
  for (const measure::OpCounters& counters : repeat.ops)
    visit_op(JsonWriter(ops.emplace_back(Json::object())), counters);
  object["ops"] = std::move(ops);
  object["waits"] = rows_to_json(repeat.waits, kVisitWait);
  object["op_samples"] = rows_to_json(repeat.op_samples, kVisitOpSample);
  object["step_times"] = step_time_summary(repeat.steps);
  object["steps"] = rows_to_json(repeat.steps, kVisitStep);
  Json& gpus = object["gpus"] = Json::array();
  for (const GpuSeries& gpu : repeat.gpus) gpus.push_back(gpu_to_json(repeat, gpu));
  if (!repeat.epochs.empty()) object["epochs"] = epochs_to_json(repeat.epochs);
  if (!repeat.tunings.empty()) object["tunings"] = tunings_to_json(repeat.tunings);
  return object;
}

RepeatResult repeat_from_json(const Json& object) {
  RepeatResult repeat;
  visit_repeat(JsonReader(object), repeat);
  for (const Json& counters : object.at("ops")) visit_op(JsonReader(counters), repeat.ops.emplace_back());
  repeat.steps = rows_from_json<StepRecord>(object.at("steps"), kVisitStep);
  const auto read_rows = [&object](const char* name, auto& records, auto visit) {
    using Record = typename std::remove_reference_t<decltype(records)>::value_type;
    if (object.contains(name)) records = rows_from_json<Record>(object.at(name), visit);
  };
  read_rows("waits", repeat.waits, kVisitWait);
  read_rows("op_samples", repeat.op_samples, kVisitOpSample);
  for (const Json& gpu : object.value("gpus", Json::array())) repeat.gpus.push_back(gpu_from_json(gpu));
  repeat.epochs = epochs_from_json(object.value("epochs", Json::array()));
  repeat.tunings = tunings_from_json(object.value("tunings", Json::array()));
  return repeat;
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

namespace {

// Returns the index behind a text that begins at `begin`.
std::size_t end_of_text(std::string_view json, std::size_t begin) {
  std::size_t at = begin + 1;
  while (json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return at + 1;
}

// Returns the index behind the list or object that begins at `begin`, or `begin` if others are in it.
std::size_t end_of_plain(std::string_view json, std::size_t begin) {
  for (std::size_t at = begin + 1;;) {
    const char c = json[at];
    if (c == ']' || c == '}') return at + 1;
    if (c == '[' || c == '{' || (json[begin] == '{')) return begin;
    at = c == '"' ? end_of_text(json, at) : at + 1;
  }
}

}  // namespace

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
