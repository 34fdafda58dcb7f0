#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/csv.hpp"
#include "report/csv_reader.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::ElementsAre;

TEST(WaitsCsv, HasARowForEachOpAndPartThatATrialWaitsFor) {
  results::TrialResult trial = results::make_trial({}, {100});
  trial.repeats[0].waits.push_back({.rank = 0, .op_index = 2, .op = "map", .wait_s = 0.001});
  const auto rows = read_csv(csv_text("waits.csv", results::make_report({trial})));
  EXPECT_THAT(rows.at(0), ElementsAre("experiment", "trial", "op_index", "op", "part", "wait_share", "emulated"));
  ASSERT_EQ(rows.size(), 1u + 4);
  const auto expect = [&rows](std::size_t row, const char* index, const char* op, const char* part, double share) {
    EXPECT_EQ(rows[row][1], "optimized png ranks=1");
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
