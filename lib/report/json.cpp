#include "report/json.hpp"

#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/record_json.hpp"
#include "spec/resolved.hpp"

namespace chexbench::report {
namespace {

using results::Json;
using results::JsonWriter;

// Writes a ratio's value under `name` and its 95 % interval under `interval`; each is null if it is undefined.
void write_ratio(const JsonWriter& write, const char* name, const char* interval,
                 const std::optional<measure::Ratio>& ratio) {
  write(name, ratio ? std::optional(ratio->value) : std::nullopt);
  write(interval, ratio ? ratio->ci95 : std::nullopt);
}

Json ablations_to_json(const std::vector<analysis::Ablation>& ablations) {
  Json all = Json::array();
  for (const analysis::Ablation& ablation : ablations) {
    Json steps = Json::array();
    for (const analysis::AblationStep& step : ablation.steps) {
      const JsonWriter write(steps.emplace_back(Json::object()));
      write("name", step.name);
      write("key", step.trial->key);
      write("images_per_s", step.images_per_s);
      write_ratio(write, "ratio", "ratio_ci95", step.to_before);
      write("grade", results::to_string(step.grade));
      write_ratio(write, "ratio_to_first", "ratio_to_first_ci95", step.to_first);
    }
    all.push_back({{"over", ablation.over}, {"emulated", ablation.emulated}, {"steps", std::move(steps)}});
  }
  return all;
}

Json second_jobs_to_json(const std::vector<analysis::SecondJobCost>& costs) {
  Json all = Json::array();
  for (const analysis::SecondJobCost& cost : costs) {
    const JsonWriter write(all.emplace_back(Json::object()));
    write("key", cost.pair.trial.trial.key);
    write("alone_key", cost.pair.base.trial.key);
    write("alone_images_per_s", cost.pair.base.images_per_s());
    write("images_per_s", cost.pair.trial.images_per_s());
    write_ratio(write, "kept", "kept_ci95", std::optional(cost.pair.ratio));
    const auto& second = cost.second;
    write("second_emulated", analysis::second_job_is_emulated(cost.pair.trial.trial.spec));
    write("second_counts_bytes", second && second->counts_bytes);
    write("second_alone_rate", second ? std::optional(second->alone) : std::nullopt);
    write("second_rate", second ? std::optional(second->beside) : std::nullopt);
    write_ratio(write, "second_kept", "second_kept_ci95", second ? std::optional(second->kept) : std::nullopt);
  }
  return all;
}

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

void add_comparisons(const analysis::Evaluation& evaluation, Json& object) {
  object["ablations"] = ablations_to_json(evaluation.ablations());
  object["second_jobs"] = second_jobs_to_json(evaluation.second_jobs);
}

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
  add_comparisons(evaluation, object);
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
