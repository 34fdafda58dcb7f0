#include "report/mllog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;

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
    EXPECT_EQ(event["metadata"]["trial"], "optimized png ranks=1");
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
  EXPECT_THAT(runs, ElementsAre("naive png ranks=1", "optimized png ranks=1", "naive png ranks=1"));
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
