// The tables about the inside of repeats: their steps and their ops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "report/csv.hpp"
#include "report/csv_reader.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;

TEST(OpsCsv, HasARowForEachOpOfEachRepeatWithItsSharesAndTheWaitsBookedToIt) {
  results::TrialResult trial = results::make_trial({.ranks = 2}, {100, 101});
  measure::OpCounters& map = trial.repeats[1].ops[1];
  map.busy_cpu_s = 0.2;
  map.blocked_input_s = 0.1;
  map.blocked_output_s = 0.2;
  map.queue_depth_sum = 80;
  map.queue_capacity = 8;
  map.bytes_held = 4096;
  const auto records = read_csv_records(csv_text("ops.csv", results::make_report({trial})));
  ASSERT_EQ(records.size(), 2u * 2);
  const auto& row = records[3];
  EXPECT_THAT(row, IsSupersetOf(std::map<std::string, std::string>{{"experiment", "naive-vs-optimized"},
                                                                   {"trial", "optimized png ranks=2"},
                                                                   {"repeat", "1"},
                                                                   {"op_index", "1"},
                                                                   {"op", "map"},
                                                                   {"elements_out", "32"},
                                                                   {"elements_per_s", "160"},
                                                                   {"busy_wall_s", "0.3"},
                                                                   {"busy_cpu_s", "0.2"},
                                                                   {"mean_queue_depth", "2.5"},
                                                                   {"queue_capacity", "4"},
                                                                   {"bytes_held", "4096"},
                                                                   {"images_decoded", "32"},
                                                                   {"decode_s", "0.25"},
                                                                   {"wait_decode_s", "0.124"},
                                                                   {"wait_other_s", "0.02"},
                                                                   {"wait_read_s", "0"},
                                                                   {"emulated", "false"}}));
  EXPECT_NEAR(std::stod(row.at("blocked_input_share")), 0.1 / 0.6, 1e-12);
  EXPECT_NEAR(std::stod(row.at("blocked_output_share")), 0.2 / 0.6, 1e-12);
  EXPECT_NEAR(std::stod(row.at("wait_s")), 0.144, 1e-12);
  EXPECT_EQ(records[2].at("op"), "read");
  EXPECT_EQ(records[2].at("mean_queue_depth"), "") << "no queue";
  EXPECT_EQ(records[2].at("blocked_input_share"), "") << "no time";
}

TEST(OpsCsv, KeepsWaitsOfNoOpSoThatTheColumnSumsToTheStepsWaits) {
  results::TrialResult trial = results::make_trial({}, {100});
  trial.repeats[0].waits.push_back({.rank = 0, .wait_s = 0.5});
  const auto records = read_csv_records(csv_text("ops.csv", results::make_report({trial})));
  double wait_s = 0;
  for (const auto& row : records) wait_s += std::stod(row.at("wait_s"));
  EXPECT_NEAR(wait_s, 0.5 + 0.08, 1e-12);
  EXPECT_EQ(records.back().at("op_index"), "-1");
  EXPECT_EQ(records.back().at("op"), "");
}

TEST(OpsCsv, MarksEmulatedTrials) {
  const auto records = read_csv_records(
      csv_text("ops.csv", results::make_report({results::make_trial({.engine = "emulated:v100"}, {100})})));
  EXPECT_EQ(records.at(0).at("emulated"), "true");
}

TEST(StepsCsv, BeginsWithThePromisedColumnsInTheirOrder) {
  const auto header = read_csv(csv_text("steps.csv", results::make_report({}))).at(0);
  EXPECT_THAT(header,
              ElementsAre("experiment", "trial", "repeat", "rank", "step", "next_s", "wall_s", "wait_s", "upload_s",
                          "compute_s", "exposed_communication_s", "update_s", "other_s", "forward_s", "backward_s",
                          "loss", "images", "communication_busy_s", "end_s", "emulated"));
}

TEST(StepsCsv, HasARowForEveryStepOfEveryRankAndRepeat) {
  const auto records = read_csv_records(
      csv_text("steps.csv", results::make_report({results::make_trial({.ranks = 2}, {100, 101, 102})})));
  ASSERT_EQ(records.size(), 3u * 2 * 2);
  const auto& last = records.back();
  EXPECT_THAT(last, IsSupersetOf(std::map<std::string, std::string>{{"trial", "optimized png ranks=2"},
                                                                    {"repeat", "2"},
                                                                    {"rank", "1"},
                                                                    {"step", "1"},
                                                                    {"next_s", "0.041"},
                                                                    {"wall_s", "0.1"},
                                                                    {"wait_s", "0.04"},
                                                                    {"upload_s", "0.005"},
                                                                    {"compute_s", "0.03"},
                                                                    {"exposed_communication_s", "0.01"},
                                                                    {"update_s", "0.008"},
                                                                    {"other_s", "0.007"},
                                                                    {"forward_s", "0.01"},
                                                                    {"backward_s", "0.02"},
                                                                    {"loss", "0.693"},
                                                                    {"images", "16"},
                                                                    {"emulated", "false"}}));
}

TEST(StepsCsv, LeavesTheLossEmptyWhereNothingIsTrained) {
  results::TrialResult trial = results::make_trial({.engine = "emulated:v100"}, {100});
  for (results::StepRecord& step : trial.repeats[0].steps) step.timings.loss = std::numeric_limits<double>::quiet_NaN();
  const auto records = read_csv_records(csv_text("steps.csv", results::make_report({trial})));
  EXPECT_EQ(records.at(0).at("loss"), "");
  EXPECT_EQ(records.at(0).at("emulated"), "true");
}

}  // namespace
}  // namespace chexbench::report
