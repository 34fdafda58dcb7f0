#include "spec/folder_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/errors.hpp"
#include "spec/document.hpp"
#include "spec/draft.hpp"
#include "spec/keys.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::spec {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLabelsPrefix = "data.labels.";

bool belongs_in_file(const std::string& key) { return key == "data.layout" || key.starts_with(kLabelsPrefix); }

void read_group(const std::string& prefix, const Object& object, const std::string& path,
                std::vector<Setting>& settings) {
  for (const auto& [name, node] : object) {
    const std::string key = prefix + name;
    if (key == "$schema") continue;  // for editors only
    if (is_group(key) && node.object() != nullptr) {
      read_group(key + ".", *node.object(), path, settings);
    } else if (belongs_in_file(key) && find_key(key) != nullptr) {
      settings.push_back({key, checked_value(key, node, fmt::format("{}: {}", path, key), "")});
    } else if (is_group(key) && key.starts_with("data")) {
      throw SpecError(fmt::format("{}: {} must be an object with keys such as '{}', not {}", path, key,
                                  names_under(key + ".").front(), describe(node)));
    } else if (is_group(key) || key == "pipeline" || key == "sweep" || find_key(key) != nullptr) {
      throw SpecError(
          fmt::format("{}: {} does not belong here: the file says how the folder holds its labels, with data.layout "
                      "and data.labels; a spec or --set has the other keys",
                      path, key));
    } else {
      throw_unknown(key, path);
    }
  }
}

// Checks that the keys fit together, and that the table is in the folder, because the file is as untrusted as the data
// set. @throws SpecError if not
void check_together(const std::vector<Setting>& settings, const std::string& path) {
  TrialSpec trial;
  for (const Setting& setting : settings) find_key(setting.key)->set(trial, from_parameter(scalar(setting.value)));
  for (const Setting& setting : settings) {
    const Condition& where = find_key(setting.key)->stated_where;
    if (!where.holds(trial))
      throw SpecError(fmt::format("{}: {} applies only where {}", path, setting.key, where.in_words));
  }
  const fs::path table(trial.data.labels.csv);
  if (table.is_absolute() || std::ranges::find(table, "..") != table.end()) {
    throw SpecError(
        fmt::format("{}: data.labels.csv must be a path in the folder, not '{}'; --set data.labels.csv=... "
                    "may lead out of it",
                    path, shown(trial.data.labels.csv)));
  }
}

}  // namespace

std::string folder_file_in(const std::string& root) { return fs::path(root) / kFolderFileName; }

std::string folder_file(const std::string& root) {
  if (root.empty() || is_url(root)) return "";
  std::string path = folder_file_in(root);
  std::error_code error;  // ignored: opening an unreadable root reports it
  return fs::exists(path, error) ? path : "";
}

std::vector<Setting> read_folder_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) throw SpecError(fmt::format("{} is not a readable file", path));
  const Node document = parse_document(read_text_file(path, "layout"), path);
  if (document.object() == nullptr) {
    throw SpecError(fmt::format(R"({}: must be an object such as {{"data": {{"layout": "csv"}}}}, not {})", path,
                                describe(document)));
  }
  std::vector<Setting> settings;
  read_group("", *document.object(), path, settings);
  check_together(settings, path);
  return settings;
}

std::string folder_file_text(DataLayout layout, const LabelsSpec& labels) {
  TrialSpec trial;
  const TrialSpec defaults;
  trial.data.layout = layout;
  trial.data.labels = labels;
  Object data, label_object;
  for (const KeyRule& rule : key_rules()) {
    if (!belongs_in_file(rule.path) || !rule.stated_where.holds(trial)) continue;
    if (rule.get(trial) == rule.get(defaults)) continue;
    const bool is_label = rule.path.starts_with(kLabelsPrefix);
    (is_label ? label_object : data)
        .emplace_back(rule.path.substr(rule.path.rfind('.') + 1), to_node(rule.values, rule.get(trial)));
  }
  if (!label_object.empty()) data.emplace_back("labels", Node{std::move(label_object)});
  return fmt::format("// How this folder holds its labels: every chexbench command on the folder reads this.\n{}\n",
                     to_text(Node{Object{{"data", Node{std::move(data)}}}}));
}

}  // namespace chexbench::spec
