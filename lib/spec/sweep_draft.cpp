#include "spec/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/errors.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::spec {
namespace {

// Names allowed in a sweep besides keys: keys that vary together, and combinations of values to skip.
constexpr const char* kZip = "zip";
constexpr const char* kExclude = "exclude";
constexpr const char* kZipExample = R"({"model.name": ["resnet50", "densenet121"], "model.image_size": [224, 256]})";

void check_list(const Stated& stated) {
  const List* const list = stated.node.list();
  if (list != nullptr && !list->empty()) return;
  throw SpecError(fmt::format("{} must be a list of one value or more, not {}", stated.path,
                              list == nullptr ? describe(stated.node) : "an empty one"));
}

// Returns a description of what was given instead of a zip's object of two or more keys.
std::string describe_entry(const Node& entry) {
  if (entry.object() == nullptr) return describe(entry);
  return entry.object()->empty() ? "an empty one" : fmt::format("'{}' alone", shown(entry.object()->front().first));
}

// Throws if two points of an axis are the same. Messages call it `path`.
void check_distinct(const Axis& axis, const std::string& path) {
  std::map<std::vector<ParameterValue>, std::size_t> seen;
  bool has_pipelines = false;
  for (std::size_t i = 0; i < axis.points.size(); ++i) {
    std::vector<ParameterValue> values;
    for (const Setting& setting : axis.points[i]) {
      values.push_back(scalar(setting.value));
      has_pipelines = has_pipelines || setting.key == "pipeline";
    }
    const auto [first, is_new] = seen.emplace(std::move(values), i);
    if (is_new) continue;
    const char* hint = has_pipelines ? "; give each pipeline a different \"name\"" : "";
    throw SpecError(fmt::format("{}: values {} and {} are the same{}", path, first->second, i, hint));
  }
}

}  // namespace

void SweepDraft::read(const Node& node, const std::string& source) {
  if (node.object() == nullptr) {
    throw SpecError(
        fmt::format("{}: sweep must be an object of lists, such as {{\"data.format\": [\"images\", \"tfrecord\"]}}, "
                    "not {}",
                    source, describe(node)));
  }
  for (const auto& [name, values] : *node.object()) {
    if (name == kExclude) {
      read_exclude(values, source);
    } else if (name == kZip) {
      read_zip(values, source);
    } else {
      check_axis_key(name, source + ": sweep", {kZip, kExclude});
      add_axis(name, {values, fmt::format("{}: sweep.{}", source, name)});
    }
  }
}

void SweepDraft::set(const std::string& name, const Node& node, const std::string& source) {
  if (name == kExclude) {
    excluded_.clear();
  } else if (name == kZip) {
    std::erase_if(axes_, [](const DraftAxis& axis) { return !axis.zip_path.empty(); });
  } else {
    remove_key(name);
  }
  if (!node.is_null()) read(Node{Object{{name, node}}}, source);
}

void SweepDraft::clear() {
  axes_.clear();
  excluded_.clear();
}

void SweepDraft::add_axis(const std::string& key, Stated stated) {
  check_list(stated);
  axes_.push_back({{{key, std::move(stated)}}, ""});
}

void SweepDraft::remove_key(const std::string& key) {
  for (DraftAxis& axis : axes_) std::erase_if(axis.keys, [&](const auto& held) { return held.first == key; });
  std::erase_if(axes_, [](const DraftAxis& axis) { return axis.keys.empty(); });
}

bool SweepDraft::has(const std::string& key) const {
  return std::ranges::any_of(axes_, [&](const DraftAxis& axis) {
    return std::ranges::any_of(axis.keys, [&](const auto& held) { return held.first == key; });
  });
}

void SweepDraft::read_zip(const Node& node, const std::string& source) {
  if (node.list() == nullptr || node.list()->empty()) {
    throw SpecError(
        fmt::format("{}: sweep.zip must be a list of objects of keys that vary together, such as [{}], "
                    "not {}",
                    source, kZipExample, node.list() == nullptr ? describe(node) : "an empty one"));
  }
  for (const Node& entry : *node.list()) {
    const std::string path = fmt::format("{}: sweep.zip[{}]", source, &entry - node.list()->data());
    if (entry.object() == nullptr || entry.object()->size() < 2) {
      throw SpecError(fmt::format("{} must be an object of two keys or more that vary together, such as {}, not {}",
                                  path, kZipExample, describe_entry(entry)));
    }
    DraftAxis& axis = axes_.emplace_back(DraftAxis{{}, path});
    for (const auto& [key, values] : *entry.object()) {
      check_axis_key(key, path);
      axis.keys.emplace_back(key, Stated{values, fmt::format("{}.{}", path, key)});
      check_list(axis.keys.back().second);
    }
  }
}

void SweepDraft::read_exclude(const Node& node, const std::string& source) {
  const auto is_filled = [](const Node& entry) { return entry.object() != nullptr && !entry.object()->empty(); };
  if (node.list() == nullptr || !std::ranges::all_of(*node.list(), is_filled)) {
    throw SpecError(
        fmt::format("{}: sweep.exclude must be a list of objects, such as [{{\"pipeline\": \"naive\", "
                    "\"data.format\": \"tfrecord\"}}], each of settings that no trial may combine",
                    source));
  }
  for (const Node& entry : *node.list()) {
    for (const auto& [key, value] : *entry.object()) check_axis_key(key, source + ": sweep.exclude");
    excluded_.push_back({entry, fmt::format("{}: sweep.exclude[{}]", source, excluded_.size())});
  }
}

void SweepDraft::check_keys_once() const {
  std::map<std::string, std::string> paths;
  for (const DraftAxis& axis : axes_) {
    for (const auto& [key, stated] : axis.keys) {
      const auto [first, is_new] = paths.emplace(key, stated.path);
      if (is_new) continue;
      throw SpecError(
          fmt::format("{}: {} is swept twice, also by {}; keep one of them", stated.path, key, first->second));
    }
  }
}

void SweepDraft::check_lengths(const DraftAxis& axis) {
  const auto& [first_key, first] = axis.keys.front();
  for (const auto& [key, stated] : axis.keys) {
    if (stated.node.list()->size() == first.node.list()->size()) continue;
    throw SpecError(fmt::format("{}: {} has {} values, but {} has {}: keys that vary together have as many each",
                                axis.zip_path, first_key, first.node.list()->size(), key, stated.node.list()->size()));
  }
}

Axis SweepDraft::make_axis(const DraftAxis& draft) {
  check_lengths(draft);
  const std::string& path = draft.zip_path.empty() ? draft.keys.front().second.path : draft.zip_path;
  const std::size_t count = draft.keys.front().second.node.list()->size();
  if (count > kMostTrials) {
    throw SpecError(fmt::format("{}: {} values; a sweep gives at most {} trials", path, count, kMostTrials));
  }
  Axis axis{std::vector<std::vector<Setting>>(count)};
  for (const auto& [key, stated] : draft.keys) {
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = (*stated.node.list())[i];
      const std::string name = fmt::format("custom-{}", i + 1);
      axis.points[i].push_back({key, checked_value(key, node, fmt::format("{}[{}]", stated.path, i), name)});
    }
  }
  check_distinct(axis, path);
  return axis;
}

std::vector<Axis> SweepDraft::make_axes() const {
  check_keys_once();
  std::vector<Axis> axes;
  for (const DraftAxis& axis : axes_) axes.push_back(make_axis(axis));
  return axes;
}

std::vector<std::vector<Setting>> SweepDraft::make_exclusions() const {
  std::vector<std::vector<Setting>> exclusions;
  for (const auto& [entry, path] : excluded_) {
    std::vector<Setting>& settings = exclusions.emplace_back();
    for (const auto& [key, node] : *entry.object())
      settings.push_back({key, checked_value(key, node, fmt::format("{}.{}", path, key), "custom")});
  }
  return exclusions;
}

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
