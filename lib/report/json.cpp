#include "report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "report/ablation_json.hpp"
#include "report/fields.hpp"
#include "report/gpu.hpp"
#include "report/json_visitors.hpp"
#include "spec/parse.hpp"
#include "spec/resolved.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of fields.hpp, for people who read the file

// ---- records to JSON

constexpr auto kVisitStep = [](auto&& visitor, auto& step) { visit_step(visitor, step); };
constexpr auto kVisitWait = [](auto&& visitor, auto& booking) { visit_wait(visitor, booking); };
constexpr auto kVisitOpSample = [](auto&& visitor, auto& sample) { visit_op_sample(visitor, sample); };
constexpr auto kVisitScore = [](auto&& visitor, auto& score) { visit_finding_score(visitor, score); };
constexpr auto kVisitSample = [](auto&& visitor, auto& sample) { visit_gpu_sample(visitor, sample); };

// Steps and samples are many and alike: one array each, under one row of column names.
template <class Record, class Visit>
Json rows_to_json(const std::vector<Record>& records, Visit visit) {
  Json columns = Json::array();
  Json rows = Json::array();
  const Record any;
  visit([&columns](const char* name, const auto&) { columns.push_back(name); }, any);
  for (const Record& record : records) {
    Json object = Json::object();
    visit(JsonWriter(object), record);
    Json row = Json::array();
    for (const auto& item : object.items()) row.push_back(std::move(item.value()));
    rows.push_back(std::move(row));
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
    object["findings"] = rows_to_json(epoch.findings, kVisitScore);
  }
  return array;
}

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
  return object;
}

Json trial_to_json(const TrialResult& trial, const std::vector<TrialResult>& all) {
  Json object = Json::object();
  visit_trial(JsonWriter(object), trial);
  Json& figures = object["figures"] = Json::object();
  figures["emulated"] = trial.emulated;  // beside the numbers, for readers who take this object alone
  const Figures derived = derive_figures(trial, all);
  visit_figures(JsonWriter(figures), derived);
  object["spec"] = Json::parse(spec::to_json(trial.spec));
  Json& repeats = object["repeats"] = Json::array();
  for (const RepeatResult& repeat : trial.repeats) repeats.push_back(repeat_to_json(repeat));
  return object;
}

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Like dump(2), but arrays of plain values stand on one line: a step is a line, not sixteen.
void print(const Json& value, const std::string& indent, std::string& text) {
  const bool plain = std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_primitive(); });
  if (value.empty() || value.is_primitive() || (value.is_array() && plain)) {
    text += dump(value);
    return;
  }
  const std::string inner = indent + "  ";
  text += value.is_array() ? '[' : '{';
  const char* separator = "\n";
  for (const auto& item : value.items()) {
    text += separator + inner;
    if (value.is_object()) text += dump(Json(item.key())) + ": ";
    print(item.value(), inner, text);
    separator = ",\n";
  }
  text += '\n' + indent + (value.is_array() ? ']' : '}');
}

// ---- JSON to records

template <class Record, class Visit>
std::vector<Record> rows_from_json(const Json& object, Visit visit) {
  std::vector<Record> records;
  const Json& columns = object.at("columns");
  for (const Json& row : object.at("rows")) {
    Json record = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) record[columns.at(i).get<std::string>()] = row.at(i);
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
    epochs.back().findings = rows_from_json<FindingScore>(object.at("findings"), kVisitScore);
  }
  return epochs;
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
  return repeat;
}

TrialResult trial_from_json(const Json& object) {
  TrialResult trial;
  visit_trial(JsonReader(object), trial);
  trial.spec = spec::parse_experiment(object.at("spec").dump(), "spec of trial '" + trial.trial + "'");
  for (const Json& repeat : object.at("repeats")) trial.repeats.push_back(repeat_from_json(repeat));
  return trial;
}

Finding finding_from_json(const Json& object) {
  return {.kind = object.at("kind").get<std::string>(),
          .text = object.at("text").get<std::string>(),
          .emulated = object.at("emulated").get<bool>()};
}

void check_version(const Json& object) {
  int version = 0;  // where there is none
  const JsonReader read(object);
  read("schema_version", version);
  if (version != kSchemaVersion) {
    throw DataError(fmt::format("its schema_version is {}, and this chexbench reads {}", version, kSchemaVersion));
  }
}

Report report_from(const Json& object) {
  check_version(object);
  Report report;
  report.experiment = object.at("experiment").get<std::string>();
  report.interrupted = object.at("interrupted").get<bool>();
  visit_environment(JsonReader(object.at("environment")), report.environment);
  for (const Json& trial : object.at("trials")) report.trials.push_back(trial_from_json(trial));
  for (const Json& finding : object.at("findings")) report.findings.push_back(finding_from_json(finding));
  return report;
}

// What a run cannot have measured: somebody edited the line.
void check_repeat(const RepeatResult& repeat) {
  const auto check = [](const char* name, double value) {
    if (!(value >= 0)) throw DataError(fmt::format("{} is {}, and cannot be below 0", name, value));
  };
  check("repeat", repeat.repeat);
  check("images_per_s", repeat.images_per_s);
  check("wall_s", repeat.wall_s);
  check("spent_s", repeat.spent_s);
  check("process_cpu_s", repeat.process_cpu_s);
}

JournalEntry journal_entry_from(const Json& object) {
  check_version(object);
  JournalEntry entry{.key = object.at("key").get<std::string>(), .repeat = repeat_from_json(object.at("repeat"))};
  check_repeat(entry.repeat);
  return entry;
}

// Parses `text` and hands it to `take`; whatever is wrong with it becomes one DataError that begins with `name`.
template <class Take>
auto read_json(std::string_view text, const std::string& name, Take take) {
  try {
    return take(Json::parse(text));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not a result of chexbench: {}", name, error.what()));
  } catch (const Error& error) {
    throw DataError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

std::string to_json(const Report& report) {
  Json object = Json::object();
  object["schema_version"] = kSchemaVersion;
  object["experiment"] = report.experiment;
  object["interrupted"] = report.interrupted;
  visit_environment(JsonWriter(object["environment"] = Json::object()), report.environment);
  Json& findings = object["findings"] = Json::array();
  for (const Finding& finding : report.findings)
    visit_finding(JsonWriter(findings.emplace_back(Json::object())), finding);
  object["ablations"] = ablations_to_json<Json>(report);
  Json& trials = object["trials"] = Json::array();
  for (const TrialResult& trial : report.trials) trials.push_back(trial_to_json(trial, report.trials));
  std::string text;
  print(object, "", text);
  return text + '\n';
}

Report report_from_json(std::string_view text, const std::string& name) { return read_json(text, name, report_from); }

std::string experiment_from_json(std::string_view text, const std::string& name) {
  return read_json(text, name, [](const Json& object) { return object.at("experiment").get<std::string>(); });
}

std::string to_journal_line(const JournalEntry& entry) {
  return dump({{"schema_version", kSchemaVersion}, {"key", entry.key}, {"repeat", repeat_to_json(entry.repeat)}});
}

JournalContents journal_from_text(std::string_view text, const std::string& name) {
  JournalContents contents;
  for (std::size_t end = text.find('\n'), line = 1; end != std::string_view::npos; end = text.find('\n'), ++line) {
    contents.entries.push_back(
        read_json(text.substr(0, end), fmt::format("{}, line {}", name, line), journal_entry_from));
    contents.whole_bytes += end + 1;
    text.remove_prefix(end + 1);
  }
  return contents;
}

}  // namespace chexbench::report
