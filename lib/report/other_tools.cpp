#include "report/other_tools.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "analysis/utilization.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "measure/statistics.hpp"
#include "report/swept_keys.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<double>;
using measure::mean;

bool has_rate(const results::RepeatResult& repeat) { return repeat.images_per_s > 0 && repeat.images_trained > 0; }

// Returns why the trial is left out, or "".
std::string why_left_out(const results::Report& report, const results::TrialResult& trial) {
  if (trial.repeats.empty()) return "it was not measured";
  if (report.interrupted && trial.partial) return "the run was interrupted before all of its repeats were measured";
  if (!std::ranges::all_of(trial.repeats, has_rate)) return "one of its repeats has no images/s";
  return "";
}

Json measures_of(const results::Figures& figures) {
  Json throughput{{"value", figures.images_per_s.value()}};
  if (figures.images_per_s_ci95) {
    throughput["lower_value"] = figures.images_per_s_ci95->low;
    throughput["upper_value"] = figures.images_per_s_ci95->high;
  }
  Json measures{{"throughput", throughput}};
  if (figures.wait_share) measures["wait-share"]["value"] = *figures.wait_share;
  return measures;
}

}  // namespace

std::vector<FinishedTrial> finished_trials(const results::Report& report) {
  std::vector<FinishedTrial> finished;
  std::map<std::string, int> seen;
  for (const results::TrialResult& trial : report.trials) {
    std::string name = report.experiment + "/" + results::marked(trial);
    const int number = ++seen[name];
    if (number > 1) name += fmt::format(" #{}", number);
    if (const std::string why = why_left_out(report, trial); !why.empty())
      log::warning("{} is left out: {}", printable(name), why);
    else
      finished.push_back({.name = std::move(name), .trial = &trial});
  }
  if (finished.empty()) {
    throw DataError(
        fmt::format("{}: no trial was measured to its end, so there is nothing to compare; continue the run with "
                    "--resume",
                    printable(report.experiment)));
  }
  return finished;
}

std::string bencher_json(const analysis::Evaluation& evaluation) {
  Json object = Json::object();
  const results::TrialResult* const first = evaluation.report.trials.data();
  for (const FinishedTrial& finished : finished_trials(evaluation.report))
    object[finished.name] = measures_of(evaluation.figures[static_cast<std::size_t>(finished.trial - first)]);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

// The measurements of each repeat, by the keys of a row.
struct Measured {
  Values real_time, cpu_time;  // ns an image
  Values items_per_second;
};

Measured measured(const results::TrialResult& trial) {
  constexpr double kNsPerS = 1e9;
  Measured all;
  for (const results::RepeatResult* repeat : results::counted_repeats(trial)) {
    all.real_time.push_back(kNsPerS / repeat->images_per_s);
    all.cpu_time.push_back(kNsPerS * repeat->process_cpu_s / static_cast<double>(repeat->images_trained));
    all.items_per_second.push_back(repeat->images_per_s);
  }
  return all;
}

double median(const Values& values) { return measure::median(values); }

// Returns the sample standard deviation, as Google Benchmark does.
double stddev(const Values& values) {
  return std::sqrt(measure::squared_deviations(values) / static_cast<double>(values.size() - 1));
}

double cv(const Values& values) {
  const double center = mean(values);
  return center == 0 ? 0 : stddev(values) / center;
}

// Returns the first members of a trial's rows. `suffix` is "", or "_mean".
Json row_of(const FinishedTrial& finished, std::size_t family, const std::string& suffix) {
  return {{"name", finished.name + suffix},
          {"family_index", family},
          {"per_family_instance_index", 0},
          {"run_name", finished.name},
          {"run_type", suffix.empty() ? "iteration" : "aggregate"},
          {"repetitions", results::counted_repeats(*finished.trial).size()}};
}

void add_rows(const FinishedTrial& finished, std::size_t family, Json& rows) {
  const Measured all = measured(*finished.trial);
  const std::size_t count = all.real_time.size();
  const auto add_values = [&](Json row, const std::function<double(const Values&)>& value_of) {
    row["real_time"] = value_of(all.real_time);
    row["cpu_time"] = value_of(all.cpu_time);
    row["time_unit"] = "ns";
    row["items_per_second"] = value_of(all.items_per_second);
    row["label"] = finished.trial->engine_device;
    rows.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < count; ++i) {
    Json row = row_of(finished, family, "");
    row["repetition_index"] = i;
    row["threads"] = 1;
    row["iterations"] = results::measured_steps(*finished.trial);
    add_values(std::move(row), [i](const Values& values) { return values[i]; });
  }
  if (count < 2) return;
  const std::vector<std::pair<std::string, double (*)(const Values&)>> aggregates{
      {"mean", mean}, {"median", median}, {"stddev", stddev}, {"cv", cv}};
  for (const auto& [name, value_of] : aggregates) {
    Json row = row_of(finished, family, "_" + name);
    row["threads"] = 1;
    row["aggregate_name"] = name;
    row["aggregate_unit"] = name == "cv" ? "percentage" : "time";
    row["iterations"] = count;
    add_values(std::move(row), value_of);
  }
}

Json context_of(const results::Report& report, const std::vector<FinishedTrial>& trials) {
  const results::Environment& environment = report.environment;
  Json context{{"date", environment.date_utc}, {"host_name", environment.host}};
  if (!environment.command_line.empty()) context["executable"] = environment.command_line.front();
  context["num_cpus"] = environment.cores;
  context["load_avg"] = Json::array();
  if (std::isfinite(environment.load_before)) context["load_avg"].push_back(environment.load_before);
  context["chexbench_version"] = environment.chexbench_version;
  context["time_is_for"] = "one image";
  Json& emulated = context["emulated"] = Json::array();
  for (const FinishedTrial& finished : trials) {
    if (finished.trial->emulated) emulated.push_back(finished.name);
  }
  return context;
}

}  // namespace

std::string google_benchmark_json(const results::Report& report) {
  const std::vector<FinishedTrial> trials = finished_trials(report);
  Json object{{"context", context_of(report, trials)}, {"benchmarks", Json::array()}};
  for (std::size_t family = 0; family < trials.size(); ++family) add_rows(trials[family], family, object["benchmarks"]);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

constexpr double kMebi = 1024.0 * 1024, kGibi = 1024 * kMebi;  // DLIO's MB and GB

// Like numpy's std(), which DLIO uses.
double population_deviation(const Values& values) {
  return std::sqrt(measure::squared_deviations(values) / static_cast<double>(values.size()));
}

// Returns the time as DLIO writes it: "2026-11-26T05:51:14.379982", in UTC, but unmarked.
std::string dlio_time(double unix_s) {
  const double whole_s = std::floor(unix_s);
  const int microseconds = static_cast<int>((unix_s - whole_s) * 1e6);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}", fmt::gmtime(static_cast<std::time_t>(whole_s)), microseconds);
}

const results::TrialResult& only_emulated(const results::Report& report) {
  std::vector<const results::TrialResult*> found;
  std::vector<std::string> names;
  for (const FinishedTrial& finished : finished_trials(report)) {
    if (analysis::utilization_of_repeats(*finished.trial).empty()) continue;
    found.push_back(finished.trial);
    names.push_back(printable(finished.trial->name, 60));
  }
  if (found.empty()) {
    throw DataError(
        "--format dlio: no trial has an emulated accelerator, whose utilization DLIO's summary.json is "
        "about: run with --set engine=emulated:PROFILE");
  }
  if (found.size() > 1) {
    names.resize(std::min<std::size_t>(names.size(), 8));
    throw DataError(
        fmt::format("--format dlio: DLIO's summary.json is about one training, and this run has {} trials "
                    "({}): run one of them alone, by --set for each swept key",
                    found.size(), fmt::join(names, ", ")));
  }
  return *found.front();
}

double mean_file_bytes_of_image(const results::DataFacts& data) {
  return data.images == 0 ? 0 : static_cast<double>(data.file_bytes) / static_cast<double>(data.images);
}

Json metrics_of(const results::TrialResult& trial) {
  Values utilization = analysis::utilization_of_repeats(trial);
  for (double& au : utilization) au *= 100;
  const Values rates = results::rates(trial);
  const double mebi_of_image = mean_file_bytes_of_image(trial.data) / kMebi;
  return {{"train_au_percentage", utilization},
          {"train_au_mean_percentage", mean(utilization)},
          {"train_au_meet_expectation", *analysis::passes(trial) ? "success" : "fail"},
          {"train_au_stdev_percentage", population_deviation(utilization)},
          {"train_throughput_samples_per_second", rates},
          {"train_throughput_mean_samples_per_second", mean(rates)},
          {"train_throughput_stdev_samples_per_second", population_deviation(rates)},
          {"train_io_mean_MB_per_second", mean(rates) * mebi_of_image},
          {"train_io_stdev_MB_per_second", population_deviation(rates) * mebi_of_image}};
}

// DLIO's description of hosts. Reports contain cores and memory of rank 0's host only, so it stands for the others.
void add_hosts(const results::Environment& environment, const results::TrialResult& trial, Json& object) {
  const std::size_t hosts = std::max<std::size_t>(1, environment.hosts.size());
  const double memory_gb = static_cast<double>(environment.memory_bytes) / kGibi;
  const double data_gb = static_cast<double>(trial.data.file_bytes) / kGibi / static_cast<double>(hosts);
  object["host_cpu_count"] = std::vector<int>(hosts, environment.cores);
  object["host_processor_name"] = environment.cpu;
  object["potential_caching"] = std::vector<int>(hosts, memory_gb > data_gb ? 1 : 0);
  object["host_cpuinfo"] = {{"model name", environment.cpu}};
  object["host_meminfo"] = {{"MemTotal", fmt::format("{} kB", environment.memory_bytes / 1024)}};
  object["host_memory_GB"] = Values(hosts, memory_gb);
  object["data_size_per_host_GB"] = data_gb;
}

}  // namespace

std::string dlio_summary_json(const results::Report& report) {
  const results::TrialResult& trial = only_emulated(report);
  const results::Environment& environment = report.environment;
  const std::vector<const results::RepeatResult*> repeats = results::counted_repeats(trial);
  std::string start = environment.date_utc;
  if (start.ends_with('Z')) start.pop_back();
  const std::uint64_t files = std::max<std::uint64_t>(1, trial.data.files);
  Json object{{"start", start},
              {"num_accelerators", trial.ranks},
              {"num_hosts", std::max<std::size_t>(1, environment.hosts.size())},
              {"hostname", environment.host},
              {"metric", metrics_of(trial)},
              {"num_files_train", trial.data.files},
              {"num_files_eval", 0},
              {"num_samples_per_file", (trial.data.images + files - 1) / files}};
  add_hosts(environment, trial, object);
  object["epochs"] = repeats.size();
  object["end"] = dlio_time(trial.repeats.back().ended_unix_s);
  return object.dump(4, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

struct Line {
  std::int64_t time_ms = 0;
  std::string text;
};

// The lines of one repeat.
class Events {
 public:
  Events(const results::TrialResult& trial, const results::RepeatResult& repeat, std::vector<Line>& lines)
      : metadata_({{"trial", trial.name}, {"repeat", repeat.repeat}, {"emulated", trial.emulated}}), lines_(lines) {}

  void add(double unix_s, const char* type, const char* key, const Json& value, const Json& more = Json::object()) {
    Json metadata = metadata_;
    metadata.update(more);
    const std::int64_t time_ms = std::llround(unix_s * 1000);
    const Json event{{"namespace", "chexbench"}, {"time_ms", time_ms},  {"event_type", type}, {"key", key},
                     {"value", value},           {"metadata", metadata}};
    lines_.push_back({time_ms, ":::MLLOG " + event.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"});
  }

 private:
  const Json metadata_;
  std::vector<Line>& lines_;
};

bool computes(const results::TrialResult& trial) { return !trial.emulated && spec::has_engine(trial.spec); }

void add_repeat(const results::TrialResult& trial, const results::RepeatResult& repeat, std::vector<Line>& lines) {
  constexpr const char* kPoint = "POINT_IN_TIME";
  const double start_s = repeat.ended_unix_s - repeat.spent_s;
  Events events(trial, repeat, lines);
  events.add(start_s, kPoint, "submission_benchmark", trial.spec.model.name);
  events.add(start_s, kPoint, "submission_platform", trial.engine_device);
  events.add(start_s, kPoint, "cache_clear", repeat.page_cache == "cold");
  events.add(start_s, kPoint, "seed", trial.spec.model.seed);
  const int accumulate_steps = trial.spec.training.accumulate_steps;
  events.add(start_s, kPoint, "global_batch_size",
             std::int64_t{trial.spec.training.batch_size} * accumulate_steps * trial.ranks);
  events.add(start_s, kPoint, "gradient_accumulation_steps", accumulate_steps);
  if (computes(trial)) {
    events.add(start_s, kPoint, "opt_name", to_string(trial.spec.training.optimizer));
    events.add(start_s, kPoint, "opt_base_learning_rate", trial.spec.training.learning_rate);
  }
  events.add(start_s, "INTERVAL_START", "run_start", nullptr);
  events.add(repeat.ended_unix_s, kPoint, "tracked_stats", {{"throughput", repeat.images_per_s}},
             {{"step", results::measured_steps(trial)}});
  events.add(repeat.ended_unix_s, "INTERVAL_END", "run_stop", nullptr, {{"status", "success"}});
}

}  // namespace

std::string mllog_text(const results::Report& report) {
  std::vector<Line> lines;
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) add_repeat(trial, repeat, lines);
  }
  std::ranges::stable_sort(lines, {}, &Line::time_ms);
  std::string text;
  for (const Line& line : lines) text += line.text;
  return text;
}

}  // namespace chexbench::report
