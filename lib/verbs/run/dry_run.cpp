#include "verbs/run/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <vector>

#include "bench/core_layout.hpp"
#include "bench/opened_datasets.hpp"
#include "bench/pipeline_context.hpp"
#include "bench/training/labels.hpp"
#include "core/allocator.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "dataset/dataset.hpp"
#include "engine/device_memory.hpp"
#include "measure/process_sampler.hpp"
#include "report/swept_keys.hpp"
#include "results/labels.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"
#include "verbs/run/time_forecast.hpp"

namespace chexbench::verbs {
namespace {

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) * 1e-6; }

void print_line(std::string& text, const pipeline::MemoryForecast::Bytes& bytes, std::string_view op,
                std::string_view what) {
  fmt::format_to(std::back_inserter(text), "  {:>9.1f} MB  {:>9.1f} MB  {:<16} {}\n", megabytes(bytes.full),
                 megabytes(bytes.starved), op, what);
}

pipeline::MemoryForecast forecast(const results::TrialResult& trial, const dataset::Dataset& dataset,
                                  const bench::HostCores& host) {
  const spec::Experiment& spec = trial.spec;
  return pipeline::forecast_memory(
      bench::make_pipeline_context(spec, dataset, host_allocator(),
                                   {.world = trial.ranks, .cores = bench::share_cores(host, spec, trial.ranks).cores}));
}

void print_device_memory(std::string& text, const spec::Experiment& spec, const dataset::Dataset& dataset) {
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
    fmt::format_to(out, "  {:>9.1f} MB  {}\n", megabytes(line.bytes), line.what);
    total += line.bytes;
  }
  fmt::format_to(out, "  {:>9.1f} MB  in all\n", megabytes(total));
}

void print_memory(std::string& text, const results::TrialResult& trial, const bench::HostCores& host) {
  const std::uint64_t process_bytes = measure::sample_process().anonymous_rss_bytes;
  const dataset::Dataset dataset = dataset::open_dataset(trial.spec.data, bench::pixels_of(trial.spec));
  const pipeline::MemoryForecast memory = forecast(trial, dataset, host);
  text +=
      "anonymous memory of a rank, engine not counted: with full buffers, and with every batch taken at once (engine "
      "none)\n";
  for (const auto& line : memory.lines) print_line(text, line.bytes, line.op, line.what);
  print_line(text, {process_bytes, process_bytes}, "process", "as it stands now");
  print_line(text, {memory.total.full + process_bytes, memory.total.starved + process_bytes}, "in all", "");
  print_device_memory(text, trial.spec, dataset);
}

// Returns the keys in which the trial differs from the first one, with their values, and the ops of a pipeline that no
// trial before it has.
std::string differences(const results::Report& report, std::size_t index) {
  const spec::Experiment& first = report.trials.front().spec;
  const results::TrialResult& trial = report.trials[index];
  std::string text = "as trial 1, but for\n";
  auto out = std::back_inserter(text);
  const auto line = [&](std::string_view key, const auto& value) { fmt::format_to(out, "  {}: {}\n", key, value); };
  if (results::pipeline_name(trial.spec) != results::pipeline_name(first))
    line("pipeline", results::pipeline_name(trial.spec));
  if (trial.spec.engine != first.engine) line("engine", trial.spec.engine);
  if (trial.ranks != report.trials.front().ranks) line("ranks", trial.ranks);
  for (const std::string& key : report::swept_keys(report.trials)) {
    const std::string value = report::setting_of(trial.spec, key);
    if (value != report::setting_of(first, key)) line(key, value);
  }
  const auto has_its_pipeline = [&](const results::TrialResult& other) {
    return other.spec.pipeline == trial.spec.pipeline;
  };
  const auto end = report.trials.begin() + static_cast<std::ptrdiff_t>(index);
  if (spec::uses_pipeline(trial.spec) && std::none_of(report.trials.begin(), end, has_its_pipeline))
    text += spec::to_json(trial.spec.pipeline) + '\n';
  return text;
}

// What was tried for some trials: their images, and their network if `network` is set.
struct TriedOnce {
  const spec::Experiment& trial;
  bool network = false;
  std::optional<InputCosts> costs;
  std::optional<double> rate;
  std::size_t images = 0;
  std::size_t validation_images = 0;
};

bool is_same_training(const spec::Experiment& a, const spec::Experiment& b) {
  return a.engine == b.engine && a.model == b.model && a.training.precision == b.training.precision;
}

// Time that all tries of one kind share; one that measures nothing takes none of it.
class Budget {
 public:
  explicit Budget(double seconds) : left_s_(seconds) {}
  // Returns what `measure` does for the trial and the time at which it must end, or std::nullopt once the time is up.
  template <class Result>
  std::optional<Result> spend(std::optional<Result> (*measure)(const spec::Experiment&, double),
                              const spec::Experiment& trial) {
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
  Tried of(const spec::Experiment& trial) {
    const TriedOnce& input = once(trial, false, bench::OpenedDatasets::share_data);
    const TriedOnce& network = once(trial, true, is_same_training);
    return {.costs = input.costs.value_or(InputCosts()),
            .images = input.images,
            .validation_images = input.validation_images,
            .trained_images_per_s_per_core = network.rate};
  }
  bool knows_images_of(const spec::Experiment& trial) {
    return !spec::uses_pipeline(trial) || once(trial, false, bench::OpenedDatasets::share_data).costs.has_value();
  }

 private:
  const TriedOnce& once(const spec::Experiment& trial, bool network,
                        bool (*are_alike)(const spec::Experiment&, const spec::Experiment&)) {
    const auto known = std::ranges::find_if(
        tried_, [&](const TriedOnce& other) { return other.network == network && are_alike(other.trial, trial); });
    if (known != tried_.end()) return *known;
    TriedOnce one{.trial = trial, .network = network};
    if (network) one.rate = trainings_.spend(measure_training_rate, trial);
    if (!network && spec::uses_pipeline(trial)) one.costs = looks_.spend(measure_input_costs, trial);
    if (one.costs) {
      const dataset::Dataset dataset = dataset::open_dataset(trial.data, bench::pixels_of(trial));
      one.images = dataset.images.size();
      if (dataset.validation) one.validation_images = dataset.validation->images.size();
    }
    return tried_.emplace_back(one);
  }

  Budget looks_{5};
  Budget trainings_{10};
  std::deque<TriedOnce> tried_;
};

std::vector<TrialForecast> forecasts(const results::Report& report, const bench::HostCores& host) {
  std::vector<TrialForecast> all;
  Tries tries;
  for (const results::TrialResult& trial : report.trials) {
    all.push_back({.spec = trial.spec, .repeat = {}});
    // How many epochs a checkpoint has done is known only where the run reads it.
    if (trial.spec.training.checkpoint.empty() && tries.knows_images_of(trial.spec))
      all.back().repeat = forecast_repeat(trial, tries.of(trial.spec), host);
  }
  return all;
}

}  // namespace

std::string describe_plan(const results::Report& report, comm::World& world, std::optional<int> ranks) {
  bench::HostCores host = bench::find_host_cores(world);
  if (ranks) host.sharers = *ranks;
  std::string text;
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const results::TrialResult& trial = report.trials[i];
    fmt::format_to(out, "trial {} of {}: {}\n{}", i + 1, report.trials.size(), trial.trial,
                   i == 0 ? spec::to_json(trial.spec) + '\n' : differences(report, i));
    if (!spec::uses_pipeline(trial.spec)) {
      fmt::format_to(out, "data.format is synthetic: batches are ready-made, and no pipeline runs\n");
    }
    try {
      print_memory(text, trial, host);
    } catch (const DataError& error) {
      if (!ranks) throw;
      fmt::format_to(out, "no forecast of memory, which depends on the data set: {}\n", error.what());
    }
    text += '\n';
  }
  for (const results::Finding& finding : report.findings) text += finding.text + '\n';
  if (world.communicator().rank() == 0) text += time_text(forecasts(report, host));
  return text;
}

}  // namespace chexbench::verbs
