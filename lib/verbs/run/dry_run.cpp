#include "verbs/run/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "dataset/dataset.hpp"
#include "measure/process_sampler.hpp"
#include "report/swept_keys.hpp"
#include "results/labels.hpp"
#include "spec/alike.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"
#include "verbs/run/memory_text.hpp"
#include "verbs/run/time_forecast.hpp"

namespace chexbench::verbs {
namespace {

// Tells of trials one after the other, by what each has otherwise than the first one.
class Differences {
 public:
  explicit Differences(const std::vector<results::TrialResult>& trials)
      : first_(trials.front()), swept_(report::swept_keys(trials)) {}

  // Returns the keys in which the trial differs from the first one, with their values, and the ops of a pipeline that
  // no trial before it has.
  std::string of(const results::TrialResult& trial) {
    std::string text = "as trial 1, but for\n";
    auto out = std::back_inserter(text);
    const auto line = [&](std::string_view key, const auto& value) { fmt::format_to(out, "  {}: {}\n", key, value); };
    const spec::TrialSpec& first = first_.spec;
    if (results::pipeline_name(trial.spec) != results::pipeline_name(first))
      line("pipeline", results::pipeline_name(trial.spec));
    if (trial.spec.engine != first.engine) line("engine", trial.spec.engine);
    if (trial.ranks != first_.ranks) line("ranks", trial.ranks);
    for (const std::string& key : swept_) {
      const std::string value = report::setting_of(trial.spec, key);
      if (value != report::setting_of(first, key)) line(key, value);
    }
    return text + new_pipeline(trial.spec);
  }

  // Returns the ops of the trial's pipeline, or "" if an earlier trial has the same.
  std::string new_pipeline(const spec::TrialSpec& trial) {
    if (!spec::uses_pipeline(trial)) return "";
    const std::string ops = spec::to_json(trial.pipeline) + '\n';
    return shown_.insert(ops).second ? ops : "";
  }

 private:
  const results::TrialResult& first_;
  const std::vector<std::string> swept_;
  std::set<std::string> shown_;
};

// What was tried of the images of a trial.
struct TriedImages {
  std::optional<InputCosts> costs;
  std::size_t images = 0;
  std::size_t validation_images = 0;
};

// Returns what the time of a training step depends on, and defaults for all else.
spec::TrialSpec network_part(const spec::TrialSpec& trial) {
  spec::TrialSpec part;
  part.engine = trial.engine;
  part.model = trial.model;
  part.training.precision = trial.training.precision;
  return part;
}

// Time that all tries of one kind share; one that measures nothing takes none of it.
class Budget {
 public:
  explicit Budget(double seconds) : left_s_(seconds) {}
  // Returns what `measure` does for the trial and the time at which it must end, or std::nullopt once the time is up.
  template <class Result>
  std::optional<Result> spend(std::optional<Result> (*measure)(const spec::TrialSpec&, double),
                              const spec::TrialSpec& trial) {
    if (left_s_ <= 0) return {};
    const double begin_s = now_s();
    std::optional<Result> result = measure(trial, begin_s + left_s_);
    left_s_ -= now_s() - begin_s;
    return result;
  }

 private:
  double left_s_;
};

// Tries the images of each data set once, and each network of an engine, as long as there is time.
class Tries {
 public:
  explicit Tries(bench::OpenedDatasets& datasets) : datasets_(datasets) {}

  Tried of(const spec::TrialSpec& trial) {
    const TriedImages& input = images_of(trial);
    return {.costs = input.costs.value_or(InputCosts()),
            .images = input.images,
            .validation_images = input.validation_images,
            .trained_images_per_s_per_core = rate_of(trial)};
  }
  bool knows_images_of(const spec::TrialSpec& trial) {
    return !spec::uses_pipeline(trial) || images_of(trial).costs.has_value();
  }

 private:
  const TriedImages& images_of(const spec::TrialSpec& trial) {
    const auto [known, is_new] = images_.try_emplace(bench::OpenedDatasets::data_part(trial));
    TriedImages& one = known->second;
    if (!is_new || !spec::uses_pipeline(trial)) return one;
    one.costs = looks_.spend(measure_input_costs, trial);
    if (!one.costs) return one;
    const dataset::Dataset& dataset = datasets_.of(trial);
    one.images = dataset.images.size();
    if (dataset.validation) one.validation_images = dataset.validation->images.size();
    return one;
  }

  const std::optional<double>& rate_of(const spec::TrialSpec& trial) {
    const auto [known, is_new] = rates_.try_emplace(network_part(trial));
    if (is_new) known->second = trainings_.spend(measure_training_rate, trial);
    return known->second;
  }

  template <class Value>
  using ByPart = std::unordered_map<spec::TrialSpec, Value, spec::TrialSpecHash>;

  bench::OpenedDatasets& datasets_;
  Budget looks_{5};
  Budget trainings_{10};
  ByPart<TriedImages> images_;
  ByPart<std::optional<double>> rates_;
};

double anonymous_bytes() { return static_cast<double>(measure::sample_process().anonymous_rss_bytes); }

bench::HostCores planned_host(comm::World& world, std::optional<int> ranks) {
  bench::HostCores host = bench::find_host_cores(world);
  if (ranks) host.sharers = *ranks;
  return host;
}

}  // namespace

std::string DryRun::describe_plan() {
  std::string text;
  auto out = std::back_inserter(text);
  Differences differences(report_.trials);
  const double begun_with = anonymous_bytes();
  double bytes = begun_with;
  std::map<const dataset::Dataset*, double> own_bytes_of;
  for (std::size_t i = 0; i < report_.trials.size(); ++i) {
    const results::TrialResult& trial = report_.trials[i];
    const std::string described = i == 0 ? spec::to_json(trial.spec) + '\n' : differences.of(trial);
    if (i == 0) differences.new_pipeline(trial.spec);
    fmt::format_to(out, "trial {} of {}: {}\n{}", i + 1, report_.trials.size(), trial.name, described);
    if (!spec::uses_pipeline(trial.spec)) {
      fmt::format_to(out, "data.format is synthetic: batches are ready-made, and no pipeline runs\n");
    }
    try {
      const dataset::Dataset& dataset = datasets_.of(trial.spec);
      // Data sets stay open, and a run has those of the trials that it is at.
      const auto [own_bytes, is_new] = own_bytes_of.try_emplace(&dataset, 0);
      if (is_new) {
        const double before = std::exchange(bytes, anonymous_bytes());
        own_bytes->second = std::max(0.0, bytes - before);
      }
      text += memory_text(trial, dataset, host_, begun_with + own_bytes->second);
    } catch (const DataError& error) {
      if (!may_lack_data_) throw;
      fmt::format_to(out, "no forecast of memory, which depends on the data set: {}\n", error.what());
    }
    text += '\n';
  }
  for (const results::Finding& finding : report_.findings) text += finding.text + '\n';
  return text;
}

std::string DryRun::describe_time() {
  std::vector<TrialForecast> all;
  Tries tries(datasets_);
  for (const results::TrialResult& trial : report_.trials) {
    all.push_back({.spec = trial.spec, .repeat = {}});
    // How many epochs a checkpoint has done is known only where the run reads it.
    if (trial.spec.training.checkpoint.empty() && tries.knows_images_of(trial.spec))
      all.back().repeat = forecast_repeat(trial, tries.of(trial.spec), host_);
  }
  return time_text(all);
}

DryRun::DryRun(const results::Report& report, comm::World& world, std::optional<int> ranks)
    : report_(report), may_lack_data_(ranks.has_value()), host_(planned_host(world, ranks)) {}

}  // namespace chexbench::verbs
