#include "report/swept_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

constexpr const char* kOpPrefix = "pipeline.";

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

// Returns every parameter of the pipeline's ops with its value, under the names that sweeps and overrides use.
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
    if (rule.path == "experiment" || rule.path == "ranks") continue;
    std::set<spec::Value> values;
    for (const results::TrialResult& trial : trials) {
      if (!spec::lacks_input(rule.path, trial.spec)) values.insert(rule.get(trial.spec));
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

}  // namespace

std::vector<std::string> swept_keys(const std::vector<results::TrialResult>& trials) {
  std::vector<std::string> keys;
  if (trials.empty()) return keys;
  add_scalar_keys(trials, keys);
  add_op_keys(trials, keys);
  return keys;
}

std::string setting_of(const spec::Experiment& experiment, const std::string& key) {
  if (spec::lacks_input(key, experiment)) return "";
  if (const spec::KeyRule* rule = spec::find_key(key)) return text_of(rule->get(experiment));
  for (const auto& [name, value] : op_settings(experiment.pipeline))
    if (name == key) return value;
  return "";
}

}  // namespace chexbench::report
