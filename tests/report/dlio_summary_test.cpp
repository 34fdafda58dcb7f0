#include "report/dlio_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/errors.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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
              AllOf(HasSubstr("2 trials (naive png ranks=1, optimized png ranks=1)"), HasSubstr("--set")));
  EXPECT_EQ(summary_of(results::make_report({naive, results::make_trial({}, {100})}))["num_accelerators"], 1);
}

}  // namespace
}  // namespace chexbench::report
