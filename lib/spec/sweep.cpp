#include "spec/sweep.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/errors.hpp"
#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::spec {
namespace {

bool is_op_setting(const Setting& setting) { return setting.key.starts_with("pipeline."); }

void apply(TrialSpec& experiment, const Setting& setting) {
  if (const PipelineSpec* pipeline = std::get_if<PipelineSpec>(&setting.value)) {
    experiment.pipeline = *pipeline;
    return;
  }
  const ParameterValue value = scalar(setting.value);
  if (is_op_setting(setting)) {
    set_parameter(experiment.pipeline, setting.key, value);
    return;
  }
  const KeyRule* rule = find_key(setting.key);
  if (rule == nullptr) throw SpecError(fmt::format("no key is called '{}'", setting.key));
  rule->set(experiment, from_parameter(value));
}

// Returns the shortest unambiguous form of a key: its last part, unless another key has the same last part.
std::string short_key(const std::string& key) {
  if (key.starts_with("pipeline.")) return key.substr(key.find('.') + 1);
  const std::string leaf = key.substr(key.rfind('.') + 1);
  const auto shares_leaf = [&](const KeyRule& rule) { return rule.path == leaf || rule.path.ends_with("." + leaf); };
  return std::ranges::count_if(key_rules(), shares_leaf) > 1 ? key : leaf;
}

// Returns a setting's part of the trial's name: the text alone if the key takes text ("tfrecord"), else "ranks=2".
std::string label(const Setting& setting) {
  const KeyRule* rule = find_key(setting.key);
  const bool is_text = setting.key == "pipeline" || (rule != nullptr && rule->values.type == ValueType::text);
  const std::string value = std::visit([](const auto& held) { return fmt::format("{}", held); }, scalar(setting.value));
  if (setting.key == "second_job.kind") return value == "none" ? "alone" : "beside " + value;
  return is_text ? value : fmt::format("{}={}", short_key(setting.key), value);
}

// Returns the settings of a trial. The digits of its number, in a mixed radix of the axes' sizes, choose the points.
std::vector<Setting> settings_of(const std::vector<Axis>& axes, std::size_t trial) {
  std::vector<const std::vector<Setting>*> chosen(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    chosen[i] = &axes[i].points[trial % axes[i].points.size()];
    trial /= axes[i].points.size();
  }
  std::vector<Setting> settings;
  for (const std::vector<Setting>* point : chosen) settings.insert(settings.end(), point->begin(), point->end());
  return settings;
}

// Adds the settings from the file of the trial's folder.
void apply_folder(const SweepSpec& sweep, const std::vector<Setting>& settings, TrialSpec& experiment) {
  const auto folder = sweep.folders.find(experiment.data.root);
  if (folder == sweep.folders.end()) return;
  const auto is_stated = [&](const std::string& key) {
    return sweep.stated.contains(key) || std::ranges::find(settings, key, &Setting::key) != settings.end();
  };
  const auto layout = std::ranges::find(folder->second, "data.layout", &Setting::key);
  const bool has_layout = layout != folder->second.end();
  if (has_layout && is_stated("data.layout") &&
      scalar(layout->value) != ParameterValue(std::string(to_string(experiment.data.layout)))) {
    return;
  }
  for (const Setting& setting : folder->second)
    if (!is_stated(setting.key)) apply(experiment, setting);
}

TrialSpec trial_spec_of(const SweepSpec& sweep, const std::vector<Setting>& settings) {
  TrialSpec experiment = sweep.base;
  // The pipeline must be set before the parameters of its ops.
  for (const Setting& setting : settings) {
    if (!is_op_setting(setting)) apply(experiment, setting);
  }
  if (!uses_pipeline(experiment)) return experiment;  // the op settings may be for another pipeline
  apply_folder(sweep, settings, experiment);
  for (const Setting& setting : sweep.op_settings) apply(experiment, setting);
  for (const Setting& setting : settings) {
    if (is_op_setting(setting)) apply(experiment, setting);
  }
  return experiment;
}

// Removes the settings that have no effect in the trial because its batches are ready-made: settings that vary the
// input of other trials do not affect it. Its input comes from the spec's keys outside the sweep.
void leave_out_input(const SweepSpec& sweep, std::vector<Setting>& settings, TrialSpec& experiment) {
  const auto removed =
      std::erase_if(settings, [&](const Setting& setting) { return lacks_input(setting.key, experiment); });
  if (removed > 0) experiment = trial_spec_of(sweep, settings);
  const bool beside_others = std::ranges::find(settings, "data.format", &Setting::key) != settings.end();
  if (beside_others) experiment.measure.page_cache = PageCache::as_is;  // stated for the trials that read files
}

// Removes the settings of a second job that the trial does not have.
void leave_out_second_job(const SweepSpec& sweep, std::vector<Setting>& settings, TrialSpec& experiment) {
  const auto removed =
      std::erase_if(settings, [&](const Setting& setting) { return lacks_second_job(setting.key, experiment); });
  if (removed > 0) experiment = trial_spec_of(sweep, settings);
}

std::string name_of(const TrialSpec& experiment, const std::vector<Setting>& settings) {
  std::vector<std::string> labels;
  for (const Setting& setting : settings) labels.push_back(label(setting));
  if (labels.empty()) {
    if (uses_pipeline(experiment)) labels.push_back(experiment.pipeline.name);
    labels.push_back(to_string(experiment.data.format));
  }
  return fmt::format("{}", fmt::join(labels, " "));
}

// Returns the value of a key in a trial whose axes have these settings; nothing if its pipeline lacks the op.
std::optional<ParameterValue> value_in(const SweepSpec& sweep, const std::vector<Setting>& settings,
                                       const std::string& key) {
  for (const std::vector<Setting>* stated : {&settings, &sweep.op_settings}) {
    const auto found = std::ranges::find(*stated, key, &Setting::key);
    if (found != stated->end()) return scalar(found->value);
  }
  if (key.starts_with("pipeline")) {
    const auto swept = std::ranges::find(settings, "pipeline", &Setting::key);
    const PipelineSpec& pipeline = swept == settings.end() ? sweep.base.pipeline : std::get<PipelineSpec>(swept->value);
    return key == "pipeline" ? std::optional(ParameterValue(pipeline.name)) : value_of(pipeline, key);
  }
  const KeyRule* rule = find_key(key);
  return rule == nullptr ? std::nullopt : std::optional(to_parameter(rule->get(sweep.base)));
}

bool is_excluded(const SweepSpec& sweep, const std::vector<Setting>& settings) {
  const auto has = [&](const Setting& excluded) {
    return value_in(sweep, settings, excluded.key) == scalar(excluded.value);
  };
  return std::ranges::any_of(sweep.excluded, [&](const auto& all) { return std::ranges::all_of(all, has); });
}

std::size_t count_trials(const SweepSpec& sweep) {
  std::size_t trials = 1;
  for (const Axis& axis : sweep.axes) {
    trials *= axis.points.size();
    if (trials > kMostTrials) throw SpecError(fmt::format("sweep gives more than {} trials", kMostTrials));
  }
  return trials;
}

}  // namespace

ParameterValue scalar(const SettingValue& value) {
  return std::visit(
      [](const auto& held) -> ParameterValue {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, PipelineSpec>) {
          return held.name;
        } else {
          return held;
        }
      },
      value);
}

std::vector<Trial> expand(const SweepSpec& sweep) {
  std::vector<Trial> trials;
  // Settings of the trials without an input or a second job to vary.
  std::set<std::vector<std::pair<std::string, ParameterValue>>> reduced;
  const std::size_t count = count_trials(sweep);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Setting> settings = settings_of(sweep.axes, i);
    if (is_excluded(sweep, settings)) continue;
    TrialSpec experiment = trial_spec_of(sweep, settings);
    if (!uses_pipeline(experiment) || !has_second_job(experiment)) {
      if (!uses_pipeline(experiment)) leave_out_input(sweep, settings, experiment);
      leave_out_second_job(sweep, settings, experiment);
      std::vector<std::pair<std::string, ParameterValue>> left;
      for (const Setting& setting : settings) left.emplace_back(setting.key, scalar(setting.value));
      if (!reduced.insert(std::move(left)).second) continue;
    }
    trials.push_back({name_of(experiment, settings), std::move(experiment)});
    try {
      check_trial(trials.back().spec);
    } catch (const SpecError& error) {
      if (sweep.axes.empty()) throw;
      throw SpecError(fmt::format("trial '{}': {}", trials.back().name, error.what()));
    }
  }
  if (trials.empty()) throw SpecError("sweep.exclude leaves no trial: remove one of its entries");
  check_axes(sweep, trials);
  return trials;
}

}  // namespace chexbench::spec
