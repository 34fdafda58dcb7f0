#include "spec/resolved.hpp"

#include <fmt/format.h>

#include "core/random.hpp"
#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::spec {
namespace {

// Adds `value` to `root` at a path, "leaf" or "group.leaf". A group is made when its first key is added.
void add(Object& root, const std::string& path, Node value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string::npos) {
    root.emplace_back(path, std::move(value));
    return;
  }
  const std::string group = path.substr(0, dot);
  if (root.empty() || root.back().first != group) root.emplace_back(group, Node{Object{}});
  add(std::get<Object>(root.back().second.value), path.substr(dot + 1), std::move(value));
}

}  // namespace

std::string to_json(const TrialSpec& experiment) {
  Object root;
  for (const KeyRule& rule : key_rules()) {
    if (rule.path == "model.name") root.emplace_back("pipeline", to_node(experiment.pipeline));
    if (!rule.stated_where.holds(experiment)) continue;
    add(root, rule.path, to_node(rule.values, rule.get(experiment)));
  }
  return to_text(Node{std::move(root)});
}

std::string to_json(const PipelineSpec& pipeline) { return to_text(to_node(pipeline)); }

std::string trial_key(const TrialSpec& experiment, std::string_view extra) {
  TrialSpec unnamed = experiment;
  unnamed.name = "trial";
  return fmt::format("{:016x}", fnv1a64(to_json(unnamed).append("\n").append(extra)));
}

}  // namespace chexbench::spec
