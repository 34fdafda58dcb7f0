#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/errors.hpp"
#include "report/other_tools.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json bencher_of(const std::vector<results::TrialResult>& trials, bool interrupted = false) {
  results::Report report = results::make_report(trials);
  report.interrupted = interrupted;
  return Json::parse(bencher_json(report));
}

std::vector<std::string> names(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

TEST(Bencher, HasTheMedianWithItsIntervalAndTheWaitShare) {
  const results::TrialResult trial = results::make_trial({}, {100, 104, 101, 120, 99});
  const Json measures = bencher_of({trial})["naive-vs-optimized/optimized images ranks=1"];
  const auto interval = results::figures_of(trial).images_per_s_ci95;
  ASSERT_TRUE(interval);
  EXPECT_EQ(measures["throughput"]["value"], 101);
  EXPECT_EQ(measures["throughput"]["lower_value"], interval->low);
  EXPECT_EQ(measures["throughput"]["upper_value"], interval->high);
  EXPECT_DOUBLE_EQ(measures["wait-share"]["value"].get<double>(), 0.4);
  EXPECT_EQ(measures.size(), 2u);
}

TEST(Bencher, HasNoIntervalOfFewRepeatsAndNoWaitShareWithoutSteps) {
  results::TrialResult trial = results::make_trial({}, {100, 110});
  for (results::RepeatResult& repeat : trial.repeats) repeat.steps.clear();
  EXPECT_EQ(bencher_of({trial})["naive-vs-optimized/optimized images ranks=1"],
            Json::parse(R"({"throughput": {"value": 105}})"));
}

TEST(Bencher, MarksEmulatedTrialsInTheirNames) {
  results::TrialResult computed = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100});
  computed.step_time_computed = true;
  EXPECT_THAT(names(bencher_of({results::make_trial({.engine = "emulated:v100"}, {100}), computed})),
              ElementsAre("naive-vs-optimized/optimized images ranks=1 (emulated)",
                          "naive-vs-optimized/optimized images ranks=2 (emulated, computed speed)"));
}

TEST(Bencher, NumbersTrialsOfTheSameName) {
  const results::TrialResult trial = results::make_trial({}, {100});
  EXPECT_THAT(names(bencher_of({trial, trial})), ElementsAre("naive-vs-optimized/optimized images ranks=1",
                                                             "naive-vs-optimized/optimized images ranks=1 #2"));
}

TEST(Bencher, LeavesOutWhatWasNotMeasuredToItsEndAndSaysSo) {
  results::TrialResult cut = results::make_trial({.pipeline = "naive"}, {100});
  cut.partial = true;
  const std::vector<results::TrialResult> trials{cut, results::make_trial({}, {100}),
                                                 results::make_trial({.ranks = 2}, {}),
                                                 results::make_trial({.ranks = 4}, {100, 0})};
  testing::internal::CaptureStderr();
  EXPECT_THAT(names(bencher_of(trials, true)), ElementsAre("naive-vs-optimized/optimized images ranks=1"));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("naive images ranks=1 is left out: the run was interrupted"));
  EXPECT_THAT(log, HasSubstr("optimized images ranks=2 is left out: it was not measured"));
  EXPECT_THAT(log, HasSubstr("optimized images ranks=4 is left out: one of its repeats has no images/s"));
}

TEST(Bencher, KeepsATrialThatItsTimeLimitEnded) {
  results::TrialResult trial = results::make_trial({}, {100});
  trial.partial = true;
  EXPECT_EQ(bencher_of({trial}).size(), 1u);
}

TEST(Bencher, RefusesARunWithoutAFinishedTrial) {
  try {
    bencher_of({results::make_trial({}, {})});
    FAIL() << "nothing thrown";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no trial was measured to its end"));
  }
}

const std::string kName = "naive-vs-optimized/optimized images ranks=1";

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
  EXPECT_THAT(row_names(object), ElementsAre(kName + " (emulated)", "naive-vs-optimized/naive images ranks=1"));
  EXPECT_EQ(object["context"]["emulated"], Json::array({kName + " (emulated)"}));
  EXPECT_EQ(object["benchmarks"][1]["family_index"], 1);
}

TEST(GoogleBenchmark, RefusesARunWithoutAFinishedTrial) {
  EXPECT_THROW(google_benchmark_json(results::make_report({results::make_trial({}, {})})), DataError);
}

using testing::AllOf;

// Two ranks and two repeats; each step of 100 ms computes for 38.
results::Report two_emulated_ranks() {
  results::TrialResult trial = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100, 200});
  trial.data = {.images = 64, .files = 64, .file_bytes = 64 * 1024 * 1024};
  for (results::RepeatResult& repeat : trial.repeats) repeat.ended_unix_s = 1'795'000'000.25;
  results::Report report = results::make_report({trial});
  report.environment.memory_bytes = std::uint64_t{8} << 30;
  return report;
}

Json summary_of(const results::Report& report) { return Json::parse(dlio_summary_json(report)); }

std::string summary_complaint(const results::Report& report) {
  try {
    dlio_summary_json(report);
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(DlioSummary, HasTheMembersOfTheOneThatDlioWroteInTheirTypes) {
  std::ifstream file(CHEXBENCH_TEST_DATA "/../foreign/dlio-summary.json");
  const Json real = Json::parse(file);
  const Json ours = summary_of(two_emulated_ranks());
  for (const Json& pair : {Json::array({real, ours}), Json::array({real["metric"], ours["metric"]})}) {
    std::set<std::string> theirs_keys, our_keys;
    for (const auto& member : pair[0].items()) theirs_keys.insert(member.key());
    for (const auto& member : pair[1].items()) our_keys.insert(member.key());
    EXPECT_EQ(our_keys, theirs_keys);
    for (const std::string& key : theirs_keys) {
      EXPECT_EQ(pair[1][key].is_number(), pair[0][key].is_number()) << key;
      EXPECT_EQ(pair[1][key].is_array(), pair[0][key].is_array()) << key;
      EXPECT_EQ(pair[1][key].is_string(), pair[0][key].is_string()) << key;
    }
  }
}

TEST(DlioSummary, ComputesTheUtilizationAndTheRatesAsDlioDoes) {
  const Json object = summary_of(two_emulated_ranks());
  const Json& metric = object["metric"];
  ASSERT_EQ(metric["train_au_percentage"].size(), 2u);
  EXPECT_NEAR(metric["train_au_percentage"][0].get<double>(), 100 * 4 * 0.038 / (2 * 0.2), 1e-9);
  EXPECT_NEAR(metric["train_au_mean_percentage"].get<double>(), 38, 1e-9);
  EXPECT_NEAR(metric["train_au_stdev_percentage"].get<double>(), 0, 1e-9);
  EXPECT_THAT(metric["train_throughput_samples_per_second"], ElementsAre(100, 200));
  EXPECT_EQ(metric["train_throughput_mean_samples_per_second"], 150);
  EXPECT_EQ(metric["train_throughput_stdev_samples_per_second"], 50) << "of the population, as numpy's std()";
  EXPECT_EQ(metric["train_io_mean_MB_per_second"], 150) << "images of 1 MiB";
  EXPECT_EQ(object["num_accelerators"], 2);
  EXPECT_EQ(object["epochs"], 2);
  EXPECT_EQ(object["num_samples_per_file"], 1);
  EXPECT_EQ(object["start"], "2026-11-21T06:00:00");
  EXPECT_EQ(object["end"], "2026-11-18T11:06:40.250000");
  EXPECT_EQ(object["host_memory_GB"], Json::array({8.0}));
}

TEST(DlioSummary, MeetsTheExpectationOfTheSpecOrElseThatOfDlio) {
  results::Report report = two_emulated_ranks();
  EXPECT_EQ(summary_of(report)["metric"]["train_au_meet_expectation"], "fail");
  report.trials[0].spec.measure.target_au = 0.37;
  EXPECT_EQ(summary_of(report)["metric"]["train_au_meet_expectation"], "success");
  report.trials[0].spec.measure.target_au.reset();
  for (results::RepeatResult& repeat : report.trials[0].repeats) {
    for (results::StepRecord& step : repeat.steps) step.timings.compute_s = 0.0831;
  }
  EXPECT_EQ(summary_of(report)["metric"]["train_au_meet_expectation"], "success") << "0.911, of 0.90";
}

TEST(DlioSummary, IsOfOneTrialWithAnEmulatedAccelerator) {
  EXPECT_THAT(summary_complaint(results::make_report({results::make_trial({}, {100})})),
              HasSubstr("no trial has an emulated accelerator"));
  const auto naive = results::make_trial({.pipeline = "naive", .engine = "emulated:v100"}, {100});
  const auto optimized = results::make_trial({.engine = "emulated:v100"}, {100});
  EXPECT_THAT(summary_complaint(results::make_report({naive, optimized})),
              AllOf(HasSubstr("2 trials (naive images ranks=1, optimized images ranks=1)"), HasSubstr("--set")));
  EXPECT_EQ(summary_of(results::make_report({naive, results::make_trial({}, {100})}))["num_accelerators"], 1);
}

const std::string kToken = ":::MLLOG ";

std::vector<Json> events_of(const results::Report& report) {
  std::vector<Json> events;
  std::istringstream lines(mllog_text(report));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with(kToken)) << line;
    events.push_back(Json::parse(line.substr(kToken.size())));
  }
  return events;
}

// Returns a repeat that took 2 s.
results::TrialResult timed_trial(const results::TrialOptions& options, double ended_unix_s) {
  results::TrialResult trial = results::make_trial(options, {100});
  trial.repeats[0].ended_unix_s = ended_unix_s;
  trial.repeats[0].spent_s = 2;
  return trial;
}

std::vector<std::string> keys(const std::vector<Json>& events) {
  std::vector<std::string> keys;
  for (const Json& event : events) keys.push_back(event["key"]);
  return keys;
}

TEST(Mllog, TellsARepeatAsARun) {
  const auto events = events_of(results::make_report({timed_trial({.ranks = 2, .engine = "onednn"}, 1e9)}));
  ASSERT_THAT(keys(events), ElementsAre("submission_benchmark", "submission_platform", "cache_clear", "seed",
                                        "global_batch_size", "gradient_accumulation_steps", "opt_name",
                                        "opt_base_learning_rate", "run_start", "tracked_stats", "run_stop"));
  EXPECT_EQ(events[0]["value"], "resnet50");
  EXPECT_EQ(events[2]["value"], false);
  EXPECT_EQ(events[4]["value"], 32);
  EXPECT_EQ(events[5]["value"], 1);
  EXPECT_EQ(events[6]["value"], "adam");
  EXPECT_EQ(events[8]["event_type"], "INTERVAL_START");
  EXPECT_EQ(events[8]["time_ms"], 999'999'998'000);
  EXPECT_EQ(events[9]["value"]["throughput"], 100);
  EXPECT_EQ(events[10]["event_type"], "INTERVAL_END");
  EXPECT_EQ(events[10]["time_ms"], 1'000'000'000'000);
  EXPECT_EQ(events[10]["metadata"]["status"], "success");
}

TEST(Mllog, CountsTheBatchesOfAStepIntoTheGlobalBatch) {
  results::TrialResult trial = timed_trial({.ranks = 2, .engine = "onednn"}, 1e9);
  trial.spec.training.accumulate_steps = 4;
  const auto events = events_of(results::make_report({trial}));
  EXPECT_EQ(events[4]["value"], 128);
  EXPECT_EQ(events[5]["value"], 4);
}

TEST(Mllog, HasTheSixMembersInEachLineAndNamesTheTrialThere) {
  for (const Json& event : events_of(results::make_report({timed_trial({.engine = "emulated:v100"}, 1e9)}))) {
    for (const char* member : {"namespace", "time_ms", "event_type", "key", "value", "metadata"})
      EXPECT_TRUE(event.contains(member)) << event;
    EXPECT_EQ(event.size(), 6u);
    EXPECT_EQ(event["metadata"]["trial"], "optimized images ranks=1");
    EXPECT_EQ(event["metadata"]["repeat"], 0);
    EXPECT_EQ(event["metadata"]["emulated"], true);
  }
}

TEST(Mllog, NamesNoOptimizerWhereNothingIsTrained) {
  for (const char* engine : {"none", "emulated:v100"}) {
    const auto events = events_of(results::make_report({timed_trial({.engine = engine}, 1e9)}));
    EXPECT_THAT(keys(events), testing::Not(testing::Contains("opt_name")));
  }
}

TEST(Mllog, PutsTheRepeatsOfAllTrialsInTheOrderOfTime) {
  results::TrialResult naive = timed_trial({.pipeline = "naive"}, 1000);
  naive.repeats.push_back(naive.repeats[0]);
  naive.repeats[1].ended_unix_s = 1020;
  const auto events = events_of(results::make_report({naive, timed_trial({}, 1010)}));
  std::vector<std::string> runs;
  for (const Json& event : events) {
    if (event["key"] == "run_stop") runs.push_back(event["metadata"]["trial"]);
  }
  EXPECT_THAT(runs, ElementsAre("naive images ranks=1", "optimized images ranks=1", "naive images ranks=1"));
}

TEST(Mllog, SaysWhenTheCacheWasCleared) {
  results::TrialResult trial = timed_trial({}, 1000);
  trial.repeats[0].page_cache = "cold";
  EXPECT_EQ(events_of(results::make_report({trial}))[2]["value"], true);
  trial.repeats[0].page_cache = "cold (not verified)";
  EXPECT_EQ(events_of(results::make_report({trial}))[2]["value"], false);
}

TEST(Mllog, OfNoRepeatIsEmpty) { EXPECT_EQ(mllog_text(results::make_report({results::make_trial({}, {})})), ""); }

}  // namespace
}  // namespace chexbench::report
