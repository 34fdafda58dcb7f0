#include "spec/resolved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "core/random.hpp"
#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::spec {
namespace {

// Adds `value` to `root` at a path, "leaf" or "group.leaf". Adding the first key of a group creates it.
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

// Returns the trial as JSON without the paths `left_out`, and with aliases in place of the words that replaced them if
// it is `in_old_words`.
std::string resolved_text(const TrialSpec& trial, std::span<const std::string> left_out, bool in_old_words) {
  Object root;
  for (const KeyRule& rule : key_rules()) {
    if (rule.path == "model.name") root.emplace_back("pipeline", to_node(trial.pipeline));
    if (!rule.stated_where.holds(trial) || std::ranges::find(left_out, rule.path) != left_out.end()) continue;
    Value value = rule.get(trial);
    for (const auto& [alias, word] : rule.values.aliases) {
      if (in_old_words && value == Value(word)) value = alias;
    }
    add(root, rule.path, to_node(rule.values, value));
  }
  return to_text(Node{std::move(root)});
}

}  // namespace

std::string to_json(const TrialSpec& trial) { return resolved_text(trial, {}, false); }

std::string to_json(const PipelineSpec& pipeline) { return to_text(to_node(pipeline)); }

std::string trial_key(const TrialSpec& trial, std::string_view extra, std::span<const std::string> left_out) {
  TrialSpec unnamed = trial;
  unnamed.name = "trial";
  return fmt::format("{:016x}", fnv1a64(resolved_text(unnamed, left_out, true).append("\n").append(extra)));
}

namespace {

StoreShape slowed(StoreShape shape, double factor) {
  if (shape.bandwidth_mb_per_s) *shape.bandwidth_mb_per_s /= factor;
  if (shape.iops) *shape.iops /= factor;
  if (shape.latency_ms) *shape.latency_ms *= factor;
  if (shape.jitter_ms) *shape.jitter_ms *= factor;
  return shape;
}

}  // namespace

CommSpec slowed(CommSpec comm, double factor) {
  comm.alpha_s *= factor;
  comm.launch_s *= factor;
  comm.beta_bytes_per_s /= factor;
  return comm;
}

TrialSpec slowed(TrialSpec trial, double factor) {
  trial.comm = slowed(trial.comm, factor);
  trial.data.store.shape = slowed(trial.data.store.shape, factor);
  const std::int64_t cores = trial.emulation.cores_per_accelerator;
  for (OpSpec& op : trial.pipeline.ops) {
    const auto workers = op.parameters.find("num_workers");
    if (cores > 0 && workers != op.parameters.end() && op.holds_text("num_workers"))
      workers->second = cores;  // not one per core of this machine
    for (const char* parameter : {"delay_s", "start_s"}) {
      const auto found = op.parameters.find(parameter);
      if (found != op.parameters.end()) found->second = op.number(parameter) * factor;
    }
  }
  return trial;
}

namespace {

template <class Part>
void mix(std::size_t& hash, const Part& part) {
  hash = (hash ^ std::hash<Part>()(part)) * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32U;
}

}  // namespace

void leave_out_ranks(TrialSpec& trial) { trial.ranks = 0; }

std::size_t TrialSpecHash::operator()(const TrialSpec& trial) const {
  std::size_t hash = 0;
  for (const KeyRule& rule : key_rules()) mix(hash, rule.get(trial));
  mix(hash, trial.ranks);
  mix(hash, trial.pipeline.name);
  for (const OpSpec& op : trial.pipeline.ops) {
    mix(hash, op.op);
    for (const auto& [name, value] : op.parameters) mix(hash, value);
  }
  return hash;
}

std::span<const std::vector<std::string>> added_keys() {
  static const std::vector<std::vector<std::string>> versions = {
      {"measure.extra_repeats"},  // whose default only allows more repeats
      {"emulation.cores_per_accelerator", "emulation.core_speed"},
      {"training.overlap_input"},
      {"training.tuning_s"},
      {"training.concurrent_weight_gradients"},
      {"comm.stall_limit_s"},
      {"comm.timeout_s"},
      {"store.redirects"},
      {"store.read"},
      {"measure.target_au"},
      {"second_job.kind", "second_job.cores", "second_job.engine", "second_job.root"},
      {"data.labels.uncertain", "data.labels.blank"},
      {"preprocess.resized_crop", "model.freeze", "training.stop_patience"},
      {"data.labels.classes", "training.weight_decay", "training.clip_gradient_norm", "training.ema_decay",
       "training.task", "training.label_smoothing", "training.class_weights"},
      {"data.color"},
      {"measure.max_total_seconds"},
      {"comm.profile", "comm.link", "comm.host_link", "comm.ranks_per_host"},
  };
  return versions;
}

std::vector<std::string> trial_keys(const TrialSpec& trial, std::string_view extra) {
  static const TrialSpec defaults;
  std::vector<std::string> keys = {trial_key(trial, extra)};
  std::vector<std::string> left_out;
  const auto versions = added_keys();
  for (auto added = versions.rbegin(); added != versions.rend(); ++added) {
    const std::size_t before = left_out.size();
    for (const std::string& path : *added) {
      const KeyRule& rule = *find_key(path);
      if (!rule.stated_where.holds(trial)) continue;
      if (rule.get(trial) != rule.get(defaults)) return keys;  // older versions could not run this trial
      left_out.push_back(path);
    }
    if (left_out.size() > before) keys.push_back(trial_key(trial, extra, left_out));
  }
  return keys;
}

}  // namespace chexbench::spec
