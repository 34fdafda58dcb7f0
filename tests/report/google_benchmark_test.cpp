#include "report/google_benchmark.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;

const std::string kName = "naive-vs-optimized/optimized png ranks=1";

Json parsed(const results::Report& report) { return Json::parse(google_benchmark_json(report)); }

std::vector<std::string> row_names(const Json& object) {
  std::vector<std::string> names;
  for (const Json& row : object["benchmarks"]) names.push_back(row["name"]);
  return names;
}

TEST(GoogleBenchmark, HasARowForEachRepeatWithTheTimeOfAnImage) {
  results::TrialResult trial = results::make_trial({}, {100, 200});
  trial.spec.measure.steps = 2;
  const Json rows = parsed(results::make_report({trial}))["benchmarks"];
  EXPECT_EQ(rows[1], Json({{"name", kName},
                           {"family_index", 0},
                           {"per_family_instance_index", 0},
                           {"run_name", kName},
                           {"run_type", "iteration"},
                           {"repetitions", 2},
                           {"repetition_index", 1},
                           {"threads", 1},
                           {"iterations", 2},
                           {"real_time", 5e6},
                           {"cpu_time", 1e9 * 0.125 / 32},
                           {"time_unit", "ns"},
                           {"items_per_second", 200},
                           {"label", "a device"}}));
}

TEST(GoogleBenchmark, HasTheAggregatesOfTwoRepeatsOrMore) {
  const Json object = parsed(results::make_report({results::make_trial({}, {100, 200})}));
  EXPECT_THAT(row_names(object),
              ElementsAre(kName, kName, kName + "_mean", kName + "_median", kName + "_stddev", kName + "_cv"));
  const Json& rows = object["benchmarks"];
  EXPECT_EQ(rows[2]["run_type"], "aggregate");
  EXPECT_EQ(rows[2]["run_name"], kName);
  EXPECT_EQ(rows[2]["aggregate_name"], "mean");
  EXPECT_EQ(rows[2]["aggregate_unit"], "time");
  EXPECT_DOUBLE_EQ(rows[2]["real_time"].get<double>(), 7.5e6);
  EXPECT_DOUBLE_EQ(rows[3]["items_per_second"].get<double>(), 150);
  EXPECT_DOUBLE_EQ(rows[4]["items_per_second"].get<double>(), 50 * std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(rows[4]["cpu_time"].get<double>(), 0);
  EXPECT_EQ(rows[5]["aggregate_unit"], "percentage");
  EXPECT_DOUBLE_EQ(rows[5]["items_per_second"].get<double>(), std::sqrt(2.0) / 3);
  EXPECT_THAT(row_names(parsed(results::make_report({results::make_trial({}, {100})}))), ElementsAre(kName));
}

TEST(GoogleBenchmark, HasTheMedianOfTheFiguresWhereRepeatsWereDisturbed) {
  results::TrialResult trial = results::make_trial({}, {100, 104, 101, 120, 99, 10});
  trial.repeats[5].disturbance = {.core_s = 1, .steal_s = 0.5};
  const Json rows = parsed(results::make_report({trial}))["benchmarks"];
  ASSERT_EQ(rows.size(), 5u + 4u);
  EXPECT_EQ(rows[6]["aggregate_name"], "median");
  EXPECT_EQ(rows[6]["items_per_second"], results::figures_of(trial).images_per_s.value());
}

TEST(GoogleBenchmark, TellsInItsContextWhereItComesFrom) {
  results::Report report = results::make_report({results::make_trial({}, {100})});
  report.environment.load_before = 0.5;
  EXPECT_EQ(parsed(report)["context"], Json({{"date", "2026-11-21T06:00:00Z"},
                                             {"host_name", "node1"},
                                             {"executable", "chexbench"},
                                             {"num_cpus", 2},
                                             {"load_avg", Json::array({0.5})},
                                             {"chexbench_version", "0.1.0"},
                                             {"time_is_for", "one image"},
                                             {"emulated", Json::array()}}));
}

TEST(GoogleBenchmark, MarksEmulatedTrialsInTheirNamesAndInTheContext) {
  const Json object = parsed(results::make_report(
      {results::make_trial({.engine = "emulated:v100"}, {100}), results::make_trial({.pipeline = "naive"}, {100})}));
  EXPECT_THAT(row_names(object), ElementsAre(kName + " (emulated)", "naive-vs-optimized/naive png ranks=1"));
  EXPECT_EQ(object["context"]["emulated"], Json::array({kName + " (emulated)"}));
  EXPECT_EQ(object["benchmarks"][1]["family_index"], 1);
}

TEST(GoogleBenchmark, RefusesARunWithoutAFinishedTrial) {
  EXPECT_THROW(google_benchmark_json(results::make_report({results::make_trial({}, {})})), DataError);
}

}  // namespace
}  // namespace chexbench::report
