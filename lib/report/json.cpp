#include "report/json.hpp"

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
  std::string text = results::dump(object);
  text.back() = ',';  // as text, thousands of trials take much less memory
  text += "\"trials\":[";
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    if (i > 0) text += ',';
    text += results::dump(trial_to_json(report.trials[i], evaluation.figures[i]));
  }
  text += "]}";
  return results::spread(text) + '\n';
}

}  // namespace chexbench::report
