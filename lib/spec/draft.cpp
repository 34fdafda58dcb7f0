#include "spec/draft.hpp"

#include <fmt/format.h>

#include <string_view>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "spec/folder_file.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {
namespace {

constexpr const char* kDefaultPipeline = "optimized";
constexpr std::string_view kSweepPrefix = "sweep.";

// Returns whether an override is a number or a truth value for a key that takes any text. It is then meant as text, as
// in data.root=2017.
bool is_free_text(const std::string& key, const Node& node) {
  const KeyRule* rule = find_key(key);
  const bool is_scalar = node.text() == nullptr && node.list() == nullptr && node.object() == nullptr;
  return rule != nullptr && rule->values.type == ValueType::text && rule->values.words.empty() && is_scalar &&
         !node.is_null();
}

// Returns the value of an override: JSON, or else text. Ranks may be a list without brackets, ranks=1,2,4, as in every
// option of the command line.
Node override_value(const std::string& key, const std::string& value, const std::string& source) {
  Node node;
  const bool is_ranks = key == "ranks" || key == "sweep.ranks";
  if (is_ranks && value.find(',') != std::string::npos && try_parse_document("[" + value + "]", source, &node) &&
      !node.list()->front().list()) {
    return node;
  }
  if (!try_parse_document(value, source, &node) || is_free_text(key, node)) return Node{value};
  return node;
}

// Returns whether this is a list of ranks, "ranks": [1, 2, 4]. Such a list is an axis, the last one.
// @throws SpecError if such a list is given as a text
bool is_ranks_list(const std::string& key, const Stated& stated) {
  if (key != "ranks") return false;
  if (const std::string* text = stated.node.text(); text != nullptr && text->find(',') != std::string::npos) {
    throw SpecError(fmt::format("{}: several numbers of ranks are a list, such as [1, 2, 4], not {}", stated.path,
                                describe(stated.node)));
  }
  return stated.node.list() != nullptr;
}

void ask_folder(const std::string& root, SweepSpec& sweep) {
  const std::string path = folder_file(root);
  if (path.empty() || sweep.folders.contains(root)) return;
  sweep.folders.emplace(root, read_folder_file(path));
  log::info_once("{} says how the folder is read", path);
}

// Reads the files of all trials' folders.
void ask_folders(SweepSpec& sweep) {
  ask_folder(sweep.base.data.root, sweep);
  for (const Axis& axis : sweep.axes)
    for (const std::vector<Setting>& point : axis.points)
      for (const Setting& setting : point)
        if (setting.key == "data.root") ask_folder(std::get<std::string>(setting.value), sweep);
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
      sweep_.read(node, source);
    } else if (is_group(key)) {
      if (node.object() == nullptr) {
        throw SpecError(fmt::format("{}: {} must be an object with keys such as '{}', not {}", source, key,
                                    names_under(key + ".").front(), describe(node)));
      }
      read_group(key + ".", *node.object(), source);
    } else if (key == "pipeline" || find_key(key) != nullptr) {
      state(key, node, source);
    } else if (!ignores_unknown_) {
      throw_unknown(key, source);
    }
  }
}

void Draft::state(const std::string& key, const Node& node, const std::string& source) {
  stated_[key] = {node, fmt::format("{}: {}", source, key)};
}

void Draft::restate(const std::string& key, const Node& node, const std::string& source) {
  stated_.erase(key);
  if (!node.is_null()) state(key, node, source);
}

void Draft::remove_ranks_list() {
  const auto stated = stated_.find("ranks");
  if (stated != stated_.end() && stated->second.node.list() != nullptr) stated_.erase(stated);
}

void Draft::set(const std::string& assignment) {
  const std::string source = "--set " + printable(without_credentials(assignment), 1000);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw SpecError(source + ": must be key=value, such as data.format=images");
  }
  const std::string key = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  const Node node = override_value(key, value, source);
  sweep_.remove_key(key);
  if (key == "sweep") {
    sweep_.clear();
    if (!node.is_null()) sweep_.read(node, source);
  } else if (key.starts_with(kSweepPrefix)) {
    if (key == "sweep.ranks") remove_ranks_list();
    sweep_.set(key.substr(kSweepPrefix.size()), node, source);
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

SweepSpec Draft::finish(bool asks_folders) const {
  SweepSpec sweep;
  sweep.base.pipeline = preset(kDefaultPipeline);
  SweepDraft swept = sweep_;
  for (const auto& [key, stated] : stated_) {
    sweep.stated.insert(key);
    if (is_ranks_list(key, stated)) {
      swept.add_axis(key, stated);
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
  sweep.axes = swept.make_axes();
  sweep.excluded = swept.make_exclusions();
  if (!stated_.contains("measure.repeats") && (sweep.base.training.epochs > 0 || swept.has("training.epochs"))) {
    sweep.base.measure.repeats = 1;  // each repeat is a whole training
  }
  check_name(sweep.base.name);
  if (asks_folders) ask_folders(sweep);
  const std::vector<Trial> trials = expand(sweep);
  for (const auto& [key, stated] : stated_) check_stated(key, stated.path, trials);
  return sweep;
}

}  // namespace chexbench::spec
