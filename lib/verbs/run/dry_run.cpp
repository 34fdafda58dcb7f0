#include "verbs/run/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/training/validation.hpp"
#include "bench/trial_data.hpp"
#include "core/allocator.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/text.hpp"
#include "dataset/dataset.hpp"
#include "engine/registry.hpp"
#include "measure/cgroup_limits.hpp"
#include "measure/memory_state.hpp"
#include "measure/process_sampler.hpp"
#include "report/swept_keys.hpp"
#include "results/labels.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"
#include "verbs/model/model_summary.hpp"
#include "verbs/run/time_forecast.hpp"

namespace chexbench::verbs {
namespace {

// Describes trials one after the other, by their differences from the first one.
class Differences {
 public:
  explicit Differences(const std::vector<results::TrialResult>& trials)
      : first_(trials.front()), swept_(report::swept_keys(trials)) {}

  // Returns the keys in which the trial differs from the first one, with their values, and the ops of a pipeline that
  // no earlier trial has.
  std::string of(const results::TrialResult& trial) {
    std::string text = "like trial 1, except:\n";
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

// The measurements with a trial's images.
struct TriedImages {
  std::optional<InputCosts> costs;
  std::size_t images = 0;
  std::size_t validation_images = 0;
};

// Returns the settings that affect the time of a training step, and defaults for all others.
spec::TrialSpec network_part(const spec::TrialSpec& trial) {
  spec::TrialSpec part;
  part.engine = trial.engine;
  part.model = trial.model;
  part.training.precision = trial.training.precision;
  return part;
}

// The time shared by all tries of one kind; tries that measure nothing do not use it.
class Budget {
 public:
  explicit Budget(double seconds) : left_s_(seconds) {}
  // Calls `measure` with the trial and its deadline and returns the result, or std::nullopt once the time is up.
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

// Tries each data set's images, and each network of an engine, once, as long as there is time.
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

double megabytes(double bytes) { return bytes * 1e-6; }

void print_line(std::string& text, double full, double starved, std::string_view op, std::string_view what) {
  fmt::format_to(std::back_inserter(text), "  {:>9.1f} MB  {:>9.1f} MB  {:<16} {}\n", megabytes(full),
                 megabytes(starved), op, what);
}

pipeline::MemoryForecast forecast(const results::TrialResult& trial, const dataset::Dataset& dataset,
                                  const bench::HostCores& host) {
  const spec::TrialSpec& spec = trial.spec;
  return pipeline::forecast_memory(
      bench::make_pipeline_context(spec, dataset, host_allocator(),
                                   {.world = trial.ranks, .cores = bench::share_cores(host, spec, trial.ranks).cores}));
}

void print_device_memory(std::string& text, const spec::TrialSpec& spec, const dataset::Dataset& dataset) {
  const auto lines = engine::forecast_device_memory(engine::resolve_engine_name(spec.engine),
                                                    {.model = spec.model,
                                                     .training = spec.training,
                                                     .comm = spec.comm,
                                                     .deliver = spec::delivered(spec.data),
                                                     .outputs = dataset.labels(),
                                                     .class_weights = bench::class_weights(spec, dataset)});
  if (lines.empty()) return;
  auto out = std::back_inserter(text);
  std::size_t total = 0;
  fmt::format_to(out, "memory of a GPU, without the workspace of its convolutions\n");
  for (const engine::DeviceMemoryLine& line : lines) {
    fmt::format_to(out, "  {:>9.1f} MB  {}\n", megabytes(static_cast<double>(line.bytes)), line.what);
    total += line.bytes;
  }
  fmt::format_to(out, "  {:>9.1f} MB  in all\n", megabytes(static_cast<double>(total)));
}

struct MemoryText {
  std::string table;    // of a rank's host memory and GPU memory
  std::string problem;  // a line if the ranks of a host take more than is allowed, otherwise ""
  double bytes = 0;     // of a rank, with full buffers
};

// Forecasts memory. `process` is the process's anonymous memory in bytes with the trial's data set open.
// @throws SpecError as pipeline::forecast_memory() and engine::forecast_device_memory()
// @throws DeviceError if an engine cannot compute the network
MemoryText memory_text(const results::TrialResult& trial, const dataset::Dataset& dataset, const bench::HostCores& host,
                       double process) {
  const pipeline::MemoryForecast memory = forecast(trial, dataset, host);
  const double engine = training_bytes(trial.spec);
  MemoryText text{
      .table = "anonymous memory of a rank: with full buffers, and with every batch taken at once (engine none)\n"};
  const auto line = [&](const pipeline::MemoryForecast::Bytes& bytes, std::string_view op, std::string_view what) {
    print_line(text.table, static_cast<double>(bytes.full), static_cast<double>(bytes.starved), op, what);
  };
  for (const auto& each : memory.lines) line(each.bytes, each.op, each.what);
  if (engine > 0) print_line(text.table, engine, engine, "engine onednn", "weights and activations, about");
  print_line(text.table, process, process, "process", "as it is now");
  text.bytes = static_cast<double>(memory.total.full) + engine + process;
  print_line(text.table, text.bytes, static_cast<double>(memory.total.starved) + engine + process, "in all", "");
  const int ranks = std::min(trial.ranks, std::max(host.sharers, 1));
  const double allowed = allowed_bytes();
  if (text.bytes * ranks > allowed)
    text.problem = fmt::format(
        "too much: {} rank{} on a host would take {:.0f} MB, and {:.0f} MB is allowed (the machine's, or the limit of "
        "its control group); lower training.batch_size or the buffers, or allow more\n",
        ranks, ranks == 1 ? "" : "s", megabytes(text.bytes * ranks), megabytes(allowed));
  text.table += text.problem;
  print_device_memory(text.table, trial.spec, dataset);
  return text;
}

// Returns "3 (naive images, ready, optimized images)", with at most five names.
std::string names_text(const std::vector<results::TrialResult>& trials) {
  constexpr std::size_t kMostNames = 5;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(trials.size(), kMostNames); ++i) names.push_back(trials[i].name);
  return fmt::format("{} ({}{})", trials.size(), fmt::join(names, ", "), trials.size() > kMostNames ? ", ..." : "");
}

}  // namespace

DryRun::Plan DryRun::describe_plan() {
  Plan plan;
  auto out = std::back_inserter(plan.details);
  double most_bytes = 0;
  std::string no_forecast;
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
      fmt::format_to(out, "data.format is 'ready': batches are ready-made, and no pipeline runs\n");
    }
    try {
      const dataset::Dataset& dataset = datasets_.of(trial.spec);
      // Data sets stay open here, but a run only opens those of its current trials.
      const auto [own_bytes, is_new] = own_bytes_of.try_emplace(&dataset, 0);
      if (is_new) {
        const double before = std::exchange(bytes, anonymous_bytes());
        own_bytes->second = std::max(0.0, bytes - before);
      }
      const MemoryText memory = memory_text(trial, dataset, host_, begun_with + own_bytes->second);
      most_bytes = std::max(most_bytes, memory.bytes);
      plan.details += memory.table;
      if (plan.problems.find(memory.problem) == std::string::npos) plan.problems += memory.problem;
    } catch (const DataError& error) {
      if (!may_lack_data_) throw;
      no_forecast = fmt::format("no forecast of memory, which depends on the data set: {}\n", error.what());
      plan.details += no_forecast;
    }
    plan.details += '\n';
  }
  if (most_bytes > 0)
    plan.summary = fmt::format("memory: at most {} per rank, of {} allowed on this host\n", bytes_text(most_bytes),
                               bytes_text(allowed_bytes()));
  plan.summary += no_forecast + fmt::format("trials: {}\n", names_text(report_.trials));
  for (const results::Finding& finding : report_.findings) plan.summary += finding.text + '\n';
  return plan;
}

std::string DryRun::describe_time() {
  std::vector<TrialForecast> all;
  Tries tries(datasets_);
  for (const results::TrialResult& trial : report_.trials) {
    all.push_back({.spec = trial.spec, .repeat = {}});
    // The number of a checkpoint's epochs is known only where the run reads it.
    if (trial.spec.training.checkpoint.empty() && tries.knows_images_of(trial.spec))
      all.back().repeat = forecast_repeat(trial, tries.of(trial.spec), host_);
  }
  return time_text(all);
}

DryRun::DryRun(const results::Report& report, comm::World& world, std::optional<int> ranks)
    : report_(report), may_lack_data_(ranks.has_value()), host_(planned_host(world, ranks)) {}

double training_bytes(const spec::TrialSpec& trial) {
  if (trial.engine != "onednn") return 0;
  const ModelSummary network = summarize_model(trial.model.name, trial.model.image_size);
  const int copies = spec::is_adam(trial.training.optimizer) ? 4 : 3;
  return static_cast<double>(network.gradient_bytes()) * copies +
         2.0 * static_cast<double>(network.activation_bytes()) * trial.training.batch_size;
}

double allowed_bytes() {
  const std::uint64_t machine = measure::probe_memory().total_bytes;
  const auto most = static_cast<double>(machine > 0 ? machine : std::numeric_limits<std::uint64_t>::max());
  const std::optional<std::uint64_t> limit = measure::probe_cgroup_limits().memory_bytes;
  return limit ? std::min(most, static_cast<double>(*limit)) : most;
}

}  // namespace chexbench::verbs
