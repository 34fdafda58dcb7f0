#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>

#include "report/csv.hpp"
#include "report/csv_reader.hpp"
#include "report/csv_table.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

TEST(CsvRow, QuotesWhatMustBeQuoted) {
  CsvRow row;
  for (const char* field : {"plain", "with,comma", "with \"quotes\"", "two\nlines", "cr\r"}) row(field);
  EXPECT_EQ(std::move(row).line(), "plain,\"with,comma\",\"with \"\"quotes\"\"\",\"two\nlines\",\"cr\r\"\n");
}

std::string field_of(const std::string& text) {
  CsvRow row;
  row(text);
  return read_csv(std::move(row).line()).at(0).at(0);
}

TEST(CsvRow, NoTextBeginsAFormula) {
  for (const std::string text : {"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=a,b", "=\"a\"", "-",
                                 "+5", "-inf", "\uff1d1", "'=1", "''-5"}) {
    EXPECT_EQ(field_of(text), "'" + text);
  }
}

TEST(CsvRow, LeavesNumbersAndOtherTextsAsTheyAre) {
  for (const std::string text : {"-5", "-0.25", "-1e-09", "5", "", "'", "'tis", "a=b", "a-b", " =1", "\u00e4"}) {
    EXPECT_EQ(field_of(text), text);
  }
  CsvRow row;
  row(-5);
  row(-0.5);
  row(std::optional(-1e-9));
  EXPECT_EQ(std::move(row).line(), "-5,-0.5,-1e-09\n");
}

TEST(CsvRow, HoldsUtf8Alone) {
  EXPECT_EQ(field_of("r\xe9p/\xc3\xa4"), "r\ufffdp/\u00e4");
  EXPECT_EQ(field_of("=\xff\xfe,"), "'=\ufffd\ufffd,");
}

TEST(CsvRow, WritesBooleansAsWordsAndUndefinedAsEmpty) {
  CsvRow row;
  row(true);
  row(false);
  row(std::optional<double>());
  row(std::numeric_limits<double>::quiet_NaN());
  row(std::optional<double>(0.5));
  EXPECT_EQ(std::move(row).line(), "true,false,,,0.5\n");
}

TEST(CsvRow, WritesNumbersThatReadBackToTheSameBits) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-9, 123456789.123456789, 1e-300}) {
    CsvRow row;
    row(value);
    EXPECT_EQ(std::stod(std::move(row).line()), value);
  }
}

TEST(CsvRow, WritesIntegersOf64BitsWhole) {
  CsvRow row;
  row(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(std::move(row).line(), "18446744073709551615\n");
}

// The tables about the inside of repeats: their steps and their ops.

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
                                                                   {"trial", "optimized images ranks=2"},
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
  EXPECT_THAT(last, IsSupersetOf(std::map<std::string, std::string>{{"trial", "optimized images ranks=2"},
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

TEST(WaitsCsv, HasARowForEachOpAndPartThatATrialWaitsFor) {
  results::TrialResult trial = results::make_trial({}, {100});
  trial.repeats[0].waits.push_back({.rank = 0, .op_index = 2, .op = "map", .wait_s = 0.001});
  const auto rows = read_csv(csv_text("waits.csv", results::make_report({trial})));
  EXPECT_THAT(rows.at(0), ElementsAre("experiment", "trial", "op_index", "op", "part", "wait_share", "emulated"));
  ASSERT_EQ(rows.size(), 1u + 4);
  const auto expect = [&rows](std::size_t row, const char* index, const char* op, const char* part, double share) {
    EXPECT_EQ(rows[row][1], "optimized images ranks=1");
    EXPECT_EQ(rows[row][2], index);
    EXPECT_EQ(rows[row][3], op);
    EXPECT_EQ(rows[row][4], part);
    EXPECT_NEAR(std::stod(rows[row][5]), share, 1e-12);
  };
  expect(1, "1", "map", "decode", 0.31);
  expect(2, "1", "map", "other", 0.05);
  expect(3, "0", "read", "", 0.04);
  expect(4, "2", "map", "", 0.005);  // the second op of that name
}

TEST(WaitsCsv, IsEmptyWhereNothingWaits) {
  results::TrialResult trial = results::make_trial({}, {100});
  for (results::StepRecord& step : trial.repeats[0].steps) step.timings.wait_s = 0;
  EXPECT_EQ(csv_text("waits.csv", results::make_report({trial})), "");
}

TEST(NotesCsv, HasARowForEachNote) {
  results::TrialResult trial = results::make_trial({}, {100});
  EXPECT_EQ(csv_text("notes.csv", results::make_report({trial})), "");
  trial.notes = {"first; note", "second, note"};
  const auto records = read_csv_records(csv_text("notes.csv", results::make_report({trial})));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].at("note"), "first; note");
  EXPECT_EQ(records[1].at("note"), "second, note");
  EXPECT_EQ(records[1].at("trial"), trial.name);
}

}  // namespace
}  // namespace chexbench::report
