#include "report/bencher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/errors.hpp"
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
  const Json measures = bencher_of({trial})["naive-vs-optimized/optimized png ranks=1"];
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
  EXPECT_EQ(bencher_of({trial})["naive-vs-optimized/optimized png ranks=1"],
            Json::parse(R"({"throughput": {"value": 105}})"));
}

TEST(Bencher, MarksEmulatedTrialsInTheirNames) {
  results::TrialResult computed = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100});
  computed.step_time_computed = true;
  EXPECT_THAT(names(bencher_of({results::make_trial({.engine = "emulated:v100"}, {100}), computed})),
              ElementsAre("naive-vs-optimized/optimized png ranks=1 (emulated)",
                          "naive-vs-optimized/optimized png ranks=2 (emulated, computed speed)"));
}

TEST(Bencher, NumbersTrialsOfTheSameName) {
  const results::TrialResult trial = results::make_trial({}, {100});
  EXPECT_THAT(names(bencher_of({trial, trial})),
              ElementsAre("naive-vs-optimized/optimized png ranks=1", "naive-vs-optimized/optimized png ranks=1 #2"));
}

TEST(Bencher, LeavesOutWhatWasNotMeasuredToItsEndAndSaysSo) {
  results::TrialResult cut = results::make_trial({.pipeline = "naive"}, {100});
  cut.partial = true;
  const std::vector<results::TrialResult> trials{cut, results::make_trial({}, {100}),
                                                 results::make_trial({.ranks = 2}, {}),
                                                 results::make_trial({.ranks = 4}, {100, 0})};
  testing::internal::CaptureStderr();
  EXPECT_THAT(names(bencher_of(trials, true)), ElementsAre("naive-vs-optimized/optimized png ranks=1"));
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("naive png ranks=1 is left out: the run was interrupted"));
  EXPECT_THAT(log, HasSubstr("optimized png ranks=2 is left out: it was not measured"));
  EXPECT_THAT(log, HasSubstr("optimized png ranks=4 is left out: one of its repeats has no images/s"));
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

}  // namespace
}  // namespace chexbench::report
