#include "spec/draft_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/errors.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/presets.hpp"

namespace chexbench::spec {

bool is_op_key(const std::string& key) { return key.starts_with("pipeline."); }

bool is_group(const std::string& name) {
  static const std::unordered_set<std::string> groups = [] {
    std::unordered_set<std::string> names;
    for (const KeyRule& rule : key_rules()) {
      for (std::size_t dot = 0; (dot = rule.path.find('.', dot)) != std::string::npos; ++dot)
        names.insert(rule.path.substr(0, dot));
    }
    return names;
  }();
  return groups.contains(name);
}

std::vector<std::string> names_under(const std::string& prefix) {
  std::vector<std::string> names;
  if (prefix.empty()) names = {"pipeline", "sweep"};
  for (const KeyRule& rule : key_rules()) {
    if (!rule.path.starts_with(prefix)) continue;
    const std::string rest = rule.path.substr(prefix.size());
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

void throw_unknown(const std::string& key, const std::string& source, const std::vector<std::string>& more) {
  const std::size_t dot = is_group(key.substr(0, key.rfind('.'))) ? key.rfind('.') : key.find('.');
  const std::string group = dot == std::string::npos ? "" : key.substr(0, dot + 1);
  const bool known_group = group.empty() || is_group(key.substr(0, dot));
  const std::string prefix = known_group ? group : "";
  const std::string name = known_group ? key.substr(group.size()) : key.substr(0, dot);
  const std::string leaf = key.substr(key.rfind('.') + 1);
  std::vector<std::string> names = names_under(prefix);
  if (prefix.empty()) names.insert(names.end(), more.begin(), more.end());
  const std::string nearest = nearest_name(name, names);
  std::string hint =
      nearest.empty() ? suggestion(name, names) : fmt::format(" (did you mean '{}{}'?)", prefix, nearest);
  for (const KeyRule& rule : key_rules()) {
    if (rule.path.ends_with("." + leaf)) hint = fmt::format(" (did you mean '{}'?)", rule.path);
  }
  throw SpecError(fmt::format("{}: no key is called '{}'{}", source, shown(key), hint));
}

void check_axis_key(const std::string& key, const std::string& source, const std::vector<std::string>& more) {
  if (key == "experiment")
    throw SpecError(source + ": experiment is the name of all trials together and cannot be swept");
  if (is_op_key(key)) {
    parse_op_key(key, source);
  } else if (key != "pipeline" && find_key(key) == nullptr) {
    throw_unknown(key, source, more);
  }
}

PipelineSpec find_pipeline_at(const Node& node, const std::string& path, const std::string& default_name) {
  if (node.text() == nullptr) return pipeline_from(node, path, default_name);
  try {
    return find_pipeline(*node.text());
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("{}: {}", path, error.what()));
  }
}

SettingValue checked_value(const std::string& key, const Node& node, const std::string& path,
                           const std::string& default_name) {
  if (key == "pipeline") return find_pipeline_at(node, path, default_name);
  ValueRule rule;
  if (is_op_key(key)) {
    rule = value_rule(parameter_rule(parse_op_key(key, path)));
  } else {
    rule = find_key(key)->values;
    rule.optional = false;
  }
  const ParameterValue value = to_parameter(check_value(rule, node, path));
  return std::visit([](const auto& held) { return SettingValue(held); }, value);
}

}  // namespace chexbench::spec
