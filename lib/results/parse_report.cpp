#include "results/parse_report.hpp"

#include <algorithm>

#include "results/fields.hpp"
#include "results/json_visitors.hpp"
#include "results/labels.hpp"
#include "results/repeat_json.hpp"
#include "spec/parse.hpp"

namespace chexbench::results {
namespace {

TrialResult trial_from_json(const Json& object) {
  TrialResult trial;
  visit_trial(JsonReader(object), trial);
  trial.spec =
      spec::parse_trial(object.at("spec").dump(), "spec of trial '" + trial.name + "'", spec::UnknownKeys::ignored);
  for (const Json& repeat : object.at("repeats")) trial.repeats.push_back(repeat_from_json(repeat));
  return trial;
}

Finding finding_from_json(const Json& object) {
  Finding finding{.kind = object.at("kind").get<std::string>(),
                  .text = object.at("text").get<std::string>(),
                  .emulated = object.at("emulated").get<bool>(),
                  .grade = grade_from(object.value("grade", ""))};
  const JsonReader read(object);
  read("trial", finding.trial);
  read("base", finding.base);
  std::optional<double> ratio;
  read("ratio", ratio);
  if (ratio) read("ratio_ci95", finding.ratio.emplace(measure::Ratio{*ratio, {}}).ci95);
  read("headline", finding.headline);
  read("reason", finding.reason);
  read("advice", finding.advice);
  read("command", finding.command);
  read("worth_share", finding.worth_share);
  // null is NaN, which no order holds.
  finding.worth_share = finding.worth_share >= 0 ? std::min(finding.worth_share, 1.0) : 0;
  return finding;
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

}  // namespace

Report report_from_json(std::string_view text, const std::string& name) { return read_json(text, name, report_from); }

std::string experiment_from_json(std::string_view text, const std::string& name) {
  return read_json(text, name, [](const Json& object) { return object.at("experiment").get<std::string>(); });
}

}  // namespace chexbench::results
