#include "report/google_benchmark.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"
#include "report/swept_keys.hpp"
#include "results/disturbance.hpp"
#include "results/rates.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<double>;
using measure::mean;

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

}  // namespace chexbench::report
