// Tests the text of --metrics. tests/system/metrics_test.py has it read by prometheus_client.
#include "verbs/run/metrics_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

results::Report planned() {
  results::Report report{.experiment = "a \"b\" \\ c\n"};
  for (const char* name : {"x", "y"}) {
    results::TrialResult trial{.name = name};
    trial.spec.pipeline.name = "best";
    trial.spec.engine = "emulated:v100";
    trial.spec.measure.repeats = 3;
    report.trials.push_back(trial);
  }
  return report;
}

TEST(MetricsText, OfARunThatHasJustBegunHasNoFigures) {
  const std::string text = metrics_text(planned(), {.repeats_total = 6, .unix_s = 12.5});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("images_per_second")), HasSubstr("chexbench_repeats_planned{experiment=\""),
                          HasSubstr("} 6\n"), HasSubstr("chexbench_done{"), EndsWith("} 12.5\n# EOF\n")));
}

TEST(MetricsText, EscapesWhatWouldEndALabel) {
  EXPECT_THAT(metrics_text(planned(), {}), HasSubstr(R"({experiment="a \"b\" \\ c\\x0a"})"));
}

TEST(MetricsText, KeepsLongNamesApartThatDifferAtTheirEnd) {
  results::Report report = planned();
  const std::string name(299, 'x');
  for (results::TrialResult& trial : report.trials) {
    trial.name = name + (&trial == &report.trials.front() ? "1" : "2");
    trial.repeats.push_back({.images_per_s = 100, .wall_s = 1, .images_trained = 100});
  }
  EXPECT_THAT(metrics_text(report, {}),
              AllOf(HasSubstr("trial=\"" + name + "1\""), HasSubstr("trial=\"" + name + "2\"")));
}

TEST(MetricsText, HasTheRepeatThatIsUnderWayAndTheMedianOfThoseThatAreDone) {
  results::Report report = planned();
  results::RepeatResult repeat{.images_per_s = 100, .wall_s = 1, .images_trained = 100};
  for (const double wait_s : {0.125, 0.25}) repeat.steps.push_back({.timings = {.wall_s = 0.5, .wait_s = wait_s}});
  report.trials[0].repeats.push_back(repeat);
  RunStanding standing{.now = bench::RunState{.trial = 1, .images_per_s = 50, .wait_share = 0.25, .left_s = 7}};
  const std::string text = metrics_text(report, standing);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("# TYPE chexbench_images_per_second gauge\n"),
            HasSubstr("trial=\"x\",pipeline=\"best\",format=\"images\",model=\"resnet50\",engine=\"emulated:v100\","
                      "precision=\"f32\",ranks=\"1\"} 100\n"),
            HasSubstr("ranks=\"1\"} 50\n"), HasSubstr("ranks=\"1\"} 0.375\n"), HasSubstr("ranks=\"1\"} 0.25\n"),
            HasSubstr("chexbench_left_seconds{experiment=\"a \\\"b\\\" \\\\ c\\\\x0a\"} 7\n")));
}

TEST(MetricsFile, IsThereFromTheBeginningAndSaysHowTheRunEnded) {
  const ScratchFolder scratch;
  const std::string path = scratch / "run.prom";
  const results::Report report = planned();
  {
    MetricsFile file(path, report);
    EXPECT_THAT(read_text(path), HasSubstr("chexbench_done{experiment=\"a \\\"b\\\" \\\\ c\\\\x0a\"} 0\n"));
    file.close(true);
  }
  EXPECT_THAT(read_text(path), AllOf(HasSubstr("c\\\\x0a\"} 1\n# HELP chexbench_failed"), EndsWith("# EOF\n")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1) << "no temporary file stays";
}

TEST(MetricsFile, ThatCannotBeWrittenIsAnErrorAtItsBeginningOnly) {
  const results::Report report = planned();
  EXPECT_THROW(MetricsFile("/no/such/folder/run.prom", report), OutputError);
  const ScratchFolder scratch;
  const std::string folder = scratch / "gone";
  std::filesystem::create_directory(folder);
  MetricsFile file(folder + "/run.prom", report);
  std::filesystem::remove_all(folder);
  EXPECT_NO_THROW(file.update({}));
  EXPECT_NO_THROW(file.close(false));
}

}  // namespace
}  // namespace chexbench::verbs
