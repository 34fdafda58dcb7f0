#include "report/dlio_summary.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/utilization.hpp"
#include "core/errors.hpp"
#include "core/printable.hpp"
#include "measure/statistics.hpp"
#include "report/swept_keys.hpp"
#include "results/disturbance.hpp"
#include "results/rates.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<double>;
using measure::mean;

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

}  // namespace chexbench::report
