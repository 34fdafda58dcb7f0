#include "results/labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "spec/keys.hpp"

namespace chexbench::results {
namespace {

constexpr const char* kUnshaped = "as it is";

const std::vector<std::string> kAttributes{"pipeline", "format",    "root",  "store", "model",
                                           "engine",   "precision", "ranks", "batch"};

// Shared attributes are mentioned, except for the place of the data, which is not a setting, and a store that is not
// slowed down.
bool is_told_in_common(const std::string& attribute, const std::string& value) {
  return attribute != "root" && value != kUnshaped;
}

std::vector<std::string> attributes_of(const TrialResult& trial) {
  const spec::TrialSpec& spec = trial.spec;
  const bool reads = spec::uses_pipeline(spec);
  return {pipeline_name(spec),
          to_string(spec.data.format),
          reads ? spec.data.root : "",
          reads ? store_words(spec.data.store.shape) : "",
          spec.model.name,
          spec.engine,
          to_string(spec.training.precision),
          std::to_string(trial.ranks),
          std::to_string(spec.training.batch_size)};
}

}  // namespace

Labels label_trials(const std::vector<TrialResult>& trials) {
  Labels labels;
  labels.rows.resize(trials.size());
  std::vector<std::vector<std::string>> values;
  for (const TrialResult& trial : trials) values.push_back(attributes_of(trial));
  std::vector<std::string> common;
  for (std::size_t i = 0; i < kAttributes.size() && !trials.empty(); ++i) {
    std::set<std::string> different;
    for (const std::vector<std::string>& row : values) {
      if (!row[i].empty()) different.insert(row[i]);
    }
    if (different.empty()) continue;
    if (different.size() == 1) {
      const std::string& value = *different.begin();
      if (is_told_in_common(kAttributes[i], value)) common.push_back(kAttributes[i] + " " + value);
      continue;
    }
    labels.names.push_back(kAttributes[i]);
    for (std::size_t trial = 0; trial < trials.size(); ++trial) labels.rows[trial].push_back(values[trial][i]);
  }
  labels.common = fmt::format("{}", fmt::join(common, ", "));
  const std::set<std::vector<std::string>> distinct(labels.rows.begin(), labels.rows.end());
  if (distinct.size() < trials.size() || labels.names.empty()) {
    labels.names.insert(labels.names.begin(), "trial");
    for (std::size_t trial = 0; trial < trials.size(); ++trial) {
      labels.rows[trial].insert(labels.rows[trial].begin(), trials[trial].name);
    }
  }
  return labels;
}

std::string pipeline_name(const spec::TrialSpec& spec) { return spec::uses_pipeline(spec) ? spec.pipeline.name : ""; }

const char* to_string(LimitedBy limit) {
  constexpr std::array kNames{"",       "slow_rank",     "cpu",    "input",  "machine",
                              "sample", "communication", "upload", "compute"};  // in the order of the enum
  return kNames.at(static_cast<std::size_t>(limit));
}

const char* to_string(Grade grade) {
  constexpr std::array kNames{"told apart", "cannot be told", "machine too busy", "sample too small"};
  return kNames.at(static_cast<std::size_t>(grade));
}

Grade grade_from(std::string_view text) {
  for (const Grade grade : {Grade::cannot_tell, Grade::machine_too_busy, Grade::sample_too_small}) {
    if (text == to_string(grade)) return grade;
  }
  return Grade::told_apart;
}

std::string graded_text(const Finding& finding) {
  if (finding.grade == Grade::told_apart) return finding.text;
  return fmt::format("{} [{}]", finding.text, to_string(finding.grade));
}

std::string store_words(const spec::StoreShape& shape) {
  std::vector<std::string> words;
  const auto add = [&words](const std::optional<double>& value, const char* unit) {
    if (value.value_or(0) > 0) words.push_back(fmt::format("{:g} {}", *value, unit));
  };
  add(shape.latency_ms, "ms");
  add(shape.jitter_ms, "ms jitter");
  add(shape.bandwidth_mb_per_s, "MB/s");
  add(shape.iops, "requests/s");
  return words.empty() ? kUnshaped : fmt::format("{}", fmt::join(words, " "));
}

std::string mark_of(const TrialResult& trial) {
  const char* const speed = trial.step_time_computed ? ", computed speed" : "";
  if (trial.scale_factor != 1) return fmt::format("(scale model, 1 : {:.3g}{})", trial.scale_factor, speed);
  return trial.emulated ? fmt::format("(emulated{})", speed) : "";
}

std::string marked(const TrialResult& trial) {
  const std::string mark = mark_of(trial);
  return mark.empty() ? trial.name : fmt::format("{} {}", trial.name, mark);
}

std::string marked(const std::string& trial, bool emulated) { return emulated ? trial + " (emulated)" : trial; }

}  // namespace chexbench::results
