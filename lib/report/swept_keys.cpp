#include "report/swept_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "spec/keys.hpp"
#include "spec/values.hpp"

namespace chexbench::report {
namespace {

constexpr const char* kOpPrefix = "pipeline.";

// Keys for which every file already has columns with these names.
constexpr std::array<std::string_view, 4> kOwnColumns{"experiment", "engine", "ranks", "cores_per_rank"};

bool has_no_effect(const std::string& key, const spec::TrialSpec& experiment) {
  return spec::lacks_input(key, experiment) || spec::lacks_second_job(key, experiment);
}

template <class... Values>
std::string text_of(const std::variant<Values...>& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return "";
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

// Returns every parameter of the pipeline's ops with its value, under their names in sweeps and overrides.
std::vector<std::pair<std::string, std::string>> op_settings(const spec::PipelineSpec& pipeline) {
  std::vector<std::pair<std::string, std::string>> settings;
  std::map<std::string, int> seen;
  for (const spec::OpSpec& op : pipeline.ops) {
    const auto same = [&](const spec::OpSpec& other) { return other.op == op.op; };
    const bool is_only = std::ranges::count_if(pipeline.ops, same) == 1;
    const std::string name = is_only ? op.op : fmt::format("{}[{}]", op.op, seen[op.op]++);
    for (const auto& [parameter, value] : op.parameters)
      settings.emplace_back(fmt::format("{}{}.{}", kOpPrefix, name, parameter), text_of(value));
  }
  return settings;
}

void add_scalar_keys(const std::vector<results::TrialResult>& trials, std::vector<std::string>& keys) {
  for (const spec::KeyRule& rule : spec::key_rules()) {
    if (std::ranges::find(kOwnColumns, rule.path) != kOwnColumns.end()) continue;
    std::set<spec::Value> values;
    for (const results::TrialResult& trial : trials) {
      if (!has_no_effect(rule.path, trial.spec)) values.insert(rule.get(trial.spec));
    }
    if (values.size() > 1) keys.push_back(rule.path);
  }
}

void add_op_keys(const std::vector<results::TrialResult>& trials, std::vector<std::string>& keys) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> values;  // by pipeline and key
  for (const results::TrialResult& trial : trials) {
    if (!spec::uses_pipeline(trial.spec)) continue;
    for (auto& [key, value] : op_settings(trial.spec.pipeline))
      values[{trial.spec.pipeline.name, key}].insert(std::move(value));
  }
  for (const auto& [place, found] : values) {
    if (found.size() > 1 && std::ranges::find(keys, place.second) == keys.end()) keys.push_back(place.second);
  }
}

const char* datatype(const spec::ValueRule& values) {
  if (!values.words.empty()) return "string";  // even numbers may then be words
  switch (values.type) {
    case spec::ValueType::boolean:
      return "boolean";
    case spec::ValueType::integer:
      return "integer";
    case spec::ValueType::number:
      return "double";
    case spec::ValueType::text:
      break;
  }
  return "string";
}

// Converts a description of one or more sentences to a phrase for Column::meaning.
std::string phrase(const std::string& description) {
  return description.ends_with('.') ? description.substr(0, description.size() - 1) : description;
}

Column describe(const std::string& key, const std::string& description, const spec::ValueRule& values) {
  return {.name = key,
          .datatype = datatype(values),
          .unit = "",
          .meaning = fmt::format("{}. The key {} of the spec: {}", phrase(description), key, spec::expectation(values)),
          .empty_if = ""};
}

// Returns the column of a key as swept_keys() names it.
Column column_of(const std::string& key) {
  if (const spec::KeyRule* rule = spec::find_key(key)) {
    Column column = describe(key, rule->description, rule->values);
    column.empty_if = "the key has no value or no meaning in the trial";
    return column;
  }
  const std::size_t dot = key.rfind('.');
  std::string op = key.substr(std::string_view(kOpPrefix).size(), dot - std::string_view(kOpPrefix).size());
  op.erase(std::min(op.find('['), op.size()));
  const auto& parameters = spec::op_rule(op).parameters;
  const auto rule = std::ranges::find(parameters, key.substr(dot + 1), &spec::ParameterRule::name);
  Column column = describe(key, rule->description, spec::value_rule(*rule));
  column.empty_if = "the trial's pipeline lacks the op";
  return column;
}

}  // namespace

std::vector<Column> with_swept_keys(std::vector<Column> columns, const results::Report& report) {
  for (const std::string& key : swept_keys(report.trials)) columns.push_back(column_of(key));
  return columns;
}

std::vector<std::string> swept_keys(const std::vector<results::TrialResult>& trials) {
  std::vector<std::string> keys;
  if (trials.empty()) return keys;
  add_scalar_keys(trials, keys);
  add_op_keys(trials, keys);
  return keys;
}

std::string setting_of(const spec::TrialSpec& experiment, const std::string& key) {
  if (has_no_effect(key, experiment)) return "";
  if (const spec::KeyRule* rule = spec::find_key(key)) return text_of(rule->get(experiment));
  for (const auto& [name, value] : op_settings(experiment.pipeline))
    if (name == key) return value;
  return "";
}

}  // namespace chexbench::report
