#include "spec/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/errors.hpp"
#include "spec/contradictions.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/presets.hpp"

namespace chexbench::spec {
namespace {

// Stands beside the axes of a sweep: the combinations of their values that are no trials.
constexpr const char* kExclude = "exclude";
constexpr const char* kDefaultPipeline = "optimized";

bool is_op_key(const std::string& key) { return key.starts_with("pipeline."); }

bool is_group(const std::string& name) {
  return std::ranges::any_of(key_rules(), [&](const KeyRule& rule) { return rule.path.starts_with(name + "."); });
}

// Returns the names of groups and keys that may follow `prefix` ("" or "data.").
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

// Throws for an unknown key. The message suggests a similar name in the same group, or the same name in another group.
[[noreturn]] void throw_unknown(const std::string& key, const std::string& source) {
  const std::size_t dot = is_group(key.substr(0, key.rfind('.'))) ? key.rfind('.') : key.find('.');
  const std::string group = dot == std::string::npos ? "" : key.substr(0, dot + 1);
  const bool known_group = group.empty() || is_group(key.substr(0, dot));
  const std::string prefix = known_group ? group : "";
  const std::string name = known_group ? key.substr(group.size()) : key.substr(0, dot);
  const std::string leaf = key.substr(key.rfind('.') + 1);
  const std::vector<std::string> names = names_under(prefix);
  const std::string nearest = nearest_name(name, names);
  std::string hint =
      nearest.empty() ? suggestion(name, names) : fmt::format(" (did you mean '{}{}'?)", prefix, nearest);
  for (const KeyRule& rule : key_rules()) {
    if (rule.path.ends_with("." + leaf)) hint = fmt::format(" (did you mean '{}'?)", rule.path);
  }
  throw SpecError(fmt::format("{}: no key is called '{}'{}", source, shown(key), hint));
}

PipelineSpec find_pipeline_at(const Node& node, const std::string& path, const std::string& default_name) {
  if (node.text() == nullptr) return pipeline_from(node, path, default_name);
  try {
    return find_pipeline(*node.text());
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("{}: {}", path, error.what()));
  }
}

SettingValue to_setting(const ParameterValue& value) {
  return std::visit([](const auto& held) { return SettingValue(held); }, value);
}

// Returns the checked value of a swept key or of an op's parameter. `path` is its place in messages.
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
  return to_setting(to_parameter(check_value(rule, node, path)));
}

// Returns whether an override is a number or a truth value for a key that takes any text. It is then meant as text, as
// in data.root=2017.
bool is_free_text(const std::string& key, const Node& node) {
  const KeyRule* rule = find_key(key);
  const bool is_scalar = node.text() == nullptr && node.list() == nullptr && node.object() == nullptr;
  return rule != nullptr && rule->values.type == ValueType::text && rule->values.words.empty() && is_scalar &&
         !node.is_null();
}

// Returns whether this is a list of ranks, "ranks": [1, 2, 4]. Such a list is an axis, the last one.
bool is_ranks_list(const std::string& key, const Node& node) {
  return key == "ranks" && node.list() != nullptr && !node.list()->empty();
}

// Throws if no axis can have this key.
void check_axis_key(const std::string& key, const std::string& source) {
  if (key == "experiment")
    throw SpecError(source + ": experiment is the name of all trials together and cannot be swept");
  if (is_op_key(key)) {
    parse_op_key(key, source);
  } else if (key != "pipeline" && find_key(key) == nullptr) {
    throw_unknown(key, source);
  }
}

void check_swept_once(const std::vector<Axis>& axes) {
  if (std::ranges::count(axes, "ranks", &Axis::key) > 1) {
    throw SpecError("ranks is swept twice: as a list of its own and under \"sweep\"; keep one of them");
  }
}

void check_distinct(const Axis& axis, const std::string& path) {
  std::map<ParameterValue, std::size_t> seen;
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    const auto [first, is_new] = seen.emplace(scalar(axis.values[i]), i);
    if (is_new) continue;
    const char* hint = axis.key == "pipeline" ? "; give each pipeline a \"name\" of its own" : "";
    throw SpecError(fmt::format("{}: values {} and {} are the same{}", path, first->second, i, hint));
  }
}

}  // namespace

void Draft::read(const Node& document, const std::string& source) {
  if (document.object() == nullptr) {
    throw SpecError(fmt::format("{}: a spec must be a JSON object {{...}}, not {}", source, describe(document)));
  }
  read_group("", *document.object(), source);
}

void Draft::read_group(const std::string& prefix, const Object& object, const std::string& source) {
  for (const auto& [name, node] : object) {
    const std::string key = prefix + name;
    if (key == "$schema") continue;  // for editors only
    if (key == "sweep") {
      read_sweep(node, source);
    } else if (is_group(key)) {
      if (node.object() == nullptr) {
        throw SpecError(fmt::format("{}: {} must be an object with keys such as '{}', not {}", source, key,
                                    names_under(key + ".").front(), describe(node)));
      }
      read_group(key + ".", *node.object(), source);
    } else if (key == "pipeline" || find_key(key) != nullptr) {
      state(key, node, source);
    } else {
      throw_unknown(key, source);
    }
  }
}

void Draft::read_sweep(const Node& node, const std::string& source) {
  if (node.object() == nullptr) {
    throw SpecError(
        fmt::format("{}: sweep must be an object of lists, such as {{\"data.format\": [\"png\", \"tfrecord\"]}}, "
                    "not {}",
                    source, describe(node)));
  }
  for (const auto& [key, values] : *node.object())
    key == kExclude ? read_exclude(values, source) : add_axis(key, values, source);
}

void Draft::read_exclude(const Node& node, const std::string& source) {
  const auto is_filled = [](const Node& entry) { return entry.object() != nullptr && !entry.object()->empty(); };
  if (node.list() == nullptr || !std::ranges::all_of(*node.list(), is_filled)) {
    throw SpecError(
        fmt::format("{}: sweep.exclude must be a list of objects, such as [{{\"pipeline\": \"naive\", "
                    "\"data.format\": \"tfrecord\"}}], each the settings that no trial shall have together",
                    source));
  }
  for (const Node& entry : *node.list()) {
    for (const auto& [key, value] : *entry.object()) check_axis_key(key, source + ": sweep.exclude");
    excluded_.push_back({entry, fmt::format("{}: sweep.exclude[{}]", source, excluded_.size())});
  }
}

void Draft::state(const std::string& key, const Node& node, const std::string& source) {
  stated_[key] = {node, fmt::format("{}: {}", source, key)};
}

void Draft::restate(const std::string& key, const Node& node, const std::string& source) {
  stated_.erase(key);
  if (!node.is_null()) state(key, node, source);
}

void Draft::add_axis(const std::string& key, const Node& node, const std::string& source) {
  check_axis_key(key, source + ": sweep");
  if (node.list() == nullptr || node.list()->empty()) {
    throw SpecError(fmt::format("{}: sweep.{} must be a list of one value or more, not {}", source, key,
                                node.list() == nullptr ? describe(node) : "an empty one"));
  }
  axes_.emplace_back(key, Stated{node, fmt::format("{}: sweep.{}", source, key)});
}

void Draft::remove_axis(const std::string& key) {
  std::erase_if(axes_, [&](const auto& axis) { return axis.first == key; });
}

void Draft::set(const std::string& assignment) {
  const std::string source = "--set " + assignment;
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw SpecError(source + ": must be key=value, such as data.format=png");
  }
  const std::string key = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  Node node;
  if (!try_parse_document(value, source, &node) || is_free_text(key, node)) node = Node{value};
  remove_axis(key);
  if (key == "sweep") {
    axes_.clear();
    excluded_.clear();
    if (!node.is_null()) read_sweep(node, source);
  } else if (key == "sweep.exclude") {
    excluded_.clear();
    if (!node.is_null()) read_exclude(node, source);
  } else if (key.starts_with("sweep.")) {
    remove_axis(key.substr(6));
    if (!node.is_null()) add_axis(key.substr(6), node, source);
  } else if (is_op_key(key)) {
    parse_op_key(key, source);
    restate(key, node, source);
  } else if (key == "pipeline" || find_key(key) != nullptr) {
    restate(key, node, source);
  } else if (is_group(key)) {
    throw SpecError(fmt::format("{}: {} is a group of keys; set one of them, such as {}.{}", source, key, key,
                                names_under(key + ".").front()));
  } else {
    throw_unknown(key, source);
  }
}

bool Draft::is_swept(const std::string& key) const {
  return std::ranges::any_of(axes_, [&](const auto& axis) { return axis.first == key; });
}

Axis Draft::make_axis(const std::string& key, const Stated& stated) {
  const std::size_t count = stated.node.list()->size();
  if (count > kMostTrials) {
    throw SpecError(fmt::format("{}: {} values; a sweep gives at most {} trials", stated.path, count, kMostTrials));
  }
  Axis axis{key, {}};
  for (const Node& node : *stated.node.list()) {
    const std::size_t index = axis.values.size();
    axis.values.push_back(
        checked_value(key, node, fmt::format("{}[{}]", stated.path, index), fmt::format("custom-{}", index + 1)));
  }
  check_distinct(axis, stated.path);
  return axis;
}

std::vector<Setting> Draft::make_exclusion(const Stated& stated) {
  std::vector<Setting> settings;
  for (const auto& [key, node] : *stated.node.object())
    settings.push_back({key, checked_value(key, node, fmt::format("{}.{}", stated.path, key), "custom")});
  return settings;
}

SweepSpec Draft::finish() const {
  SweepSpec sweep;
  sweep.base.pipeline = preset(kDefaultPipeline);
  Axes axes = axes_;
  for (const auto& [key, stated] : stated_) {
    if (is_ranks_list(key, stated.node)) {
      axes.emplace_back(key, stated);
      continue;
    }
    if (const KeyRule* rule = find_key(key)) {
      rule->set(sweep.base, check_value(rule->values, stated.node, stated.path));
    } else if (key == "pipeline") {
      sweep.base.pipeline = find_pipeline_at(stated.node, stated.path, "custom");
    } else {
      sweep.op_settings.push_back({key, checked_value(key, stated.node, stated.path, "")});
    }
  }
  for (const auto& [key, stated] : axes) sweep.axes.push_back(make_axis(key, stated));
  for (const Stated& stated : excluded_) sweep.excluded.push_back(make_exclusion(stated));
  if (!stated_.contains("measure.repeats") && (sweep.base.training.epochs > 0 || is_swept("training.epochs"))) {
    sweep.base.measure.repeats = 1;  // each repeat is a whole training
  }
  check_swept_once(sweep.axes);
  check_name(sweep.base.name);
  const std::vector<Trial> trials = expand(sweep);
  for (const auto& [key, stated] : stated_) check_stated(key, stated.path, trials);
  return sweep;
}

}  // namespace chexbench::spec
