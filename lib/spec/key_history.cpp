#include "spec/key_history.hpp"

#include <algorithm>

#include "spec/keys.hpp"
#include "spec/resolved.hpp"

namespace chexbench::spec {

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
