#include "report/json.hpp"

#include <algorithm>

#include "report/json_parts.hpp"
#include "results/figures.hpp"
#include "results/json_visitors.hpp"
#include "results/repeat_json.hpp"
#include "spec/resolved.hpp"

namespace chexbench::report {
namespace {

using results::Json;
using results::JsonWriter;

Json trial_to_json(const results::TrialResult& trial, const results::Figures& derived) {
  Json object = Json::object();
  visit_fields(JsonWriter(object), trial);
  Json& figures = object["figures"] = Json::object();
  figures["emulated"] = trial.emulated;  // these two next to the numbers, for readers who copy only this object
  figures["step_time_computed"] = trial.step_time_computed;
  visit_fields(JsonWriter(figures), derived);
  object["spec"] = Json::parse(spec::to_json(trial.spec));
  Json& repeats = object["repeats"] = Json::array();
  for (const results::RepeatResult& repeat : trial.repeats) repeats.push_back(results::repeat_to_json(repeat));
  return object;
}

// Prints like dump(2), but an array of plain values is on one line, so that a step takes one line instead of sixteen.
void print(const Json& value, const std::string& indent, std::string& text) {
  const bool plain = std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_primitive(); });
  if (value.empty() || value.is_primitive() || (value.is_array() && plain)) {
    text += results::dump(value);
    return;
  }
  const std::string inner = indent + "  ";
  text += value.is_array() ? '[' : '{';
  const char* separator = "\n";
  for (const auto& item : value.items()) {
    text += separator + inner;
    if (value.is_object()) text += results::dump(Json(item.key())) + ": ";
    print(item.value(), inner, text);
    separator = ",\n";
  }
  text += '\n' + indent + (value.is_array() ? ']' : '}');
}

}  // namespace

std::string to_json(const analysis::Evaluation& evaluation) {
  const results::Report& report = evaluation.report;
  Json object = Json::object();
  object["schema_version"] = results::kSchemaVersion;
  object["experiment"] = report.experiment;
  object["interrupted"] = report.interrupted;
  visit_fields(JsonWriter(object["environment"] = Json::object()), report.environment);
  Json& findings = object["findings"] = Json::array();
  for (const results::Finding& finding : report.findings)
    visit_fields(JsonWriter(findings.emplace_back(Json::object())), finding);
  object["ablations"] = ablations_to_json<Json>(evaluation.ablations());
  object["second_jobs"] = second_jobs_to_json<Json>(evaluation.second_jobs);
  Json& trials = object["trials"] = Json::array();
  for (std::size_t i = 0; i < report.trials.size(); ++i)
    trials.push_back(trial_to_json(report.trials[i], evaluation.figures[i]));
  std::string text;
  print(object, "", text);
  return text + '\n';
}

}  // namespace chexbench::report
