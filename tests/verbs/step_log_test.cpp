#include "verbs/diagnose/step_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Lt;
using testing::SizeIs;

// Returns the message of the error that reading `text` as the log "log.csv" gives.
std::string complaint(const std::string& text) {
  try {
    step_log_from_csv(text, "log.csv");
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(StepLog, IsReadWhateverTheOrderOfItsColumns) {
  const auto steps = step_log_from_csv("loss,images,rank,step_s,epoch,wait_s\n0.7,16,1,0.25,2,0.1\n", "log.csv");
  ASSERT_THAT(steps, SizeIs(1));
  EXPECT_EQ(steps[0].rank, 1);
  EXPECT_EQ(steps[0].epoch, 2);
  EXPECT_EQ(steps[0].wait_s, 0.1);
  EXPECT_EQ(steps[0].step_s, 0.25);
  EXPECT_EQ(steps[0].images, 16);
}

TEST(StepLog, NeedsNeitherRankNorEpoch) {
  const auto steps = step_log_from_csv("wait_s,step_s,images\n0,1,2\n", "log.csv");
  EXPECT_EQ(steps.at(0).rank, 0);
  EXPECT_EQ(steps.at(0).epoch, 0);
}

TEST(StepLog, TakesWhatSpreadsheetsWrite) {
  const auto steps =
      step_log_from_csv("\xef\xbb\xbf\"wait_s\", \"step_s\", \"images\"\r\n1e-3, 1, 2.0\r\n\r\n0.2,1,2\r\n", "log.csv");
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].wait_s, 0.001);
}

TEST(StepLog, LeavesOutALastLineThatWasTorn) {
  const std::string whole = "wait_s,step_s,images\n0,1,2\n";
  for (const char* torn : {"0", "0,1", "0,1,"})
    EXPECT_THAT(step_log_from_csv(whole + torn, "log.csv"), SizeIs(1)) << torn;
  EXPECT_THAT(step_log_from_csv(whole + "0,1,3", "log.csv"), SizeIs(2));
  EXPECT_THAT(complaint(whole + "0,1\n"), HasSubstr("line 3: it has 2 fields, and the header 3"));
}

TEST(StepLog, NamesAMissingColumnAndTheNearest) {
  EXPECT_EQ(complaint("waits_s,step_s,images\n"),
            "log.csv, line 1: there is no column 'wait_s'; if 'waits_s' is that, rename it");
  EXPECT_EQ(complaint("wait_s,seconds,images\n"),
            "log.csv, line 1: there is no column 'step_s'; the columns are 'wait_s', 'seconds', 'images'");
  EXPECT_THAT(complaint("0.1,0.2,16\n0.1,0.2,16\n"), HasSubstr("there is no column 'wait_s'"));
  EXPECT_THAT(complaint("wait_s,step_s,images,wait_s\n"), HasSubstr("two columns 'wait_s'"));
}

TEST(StepLog, QuotesLittleOfItAndObeysNothing) {
  EXPECT_THAT(complaint("wait_s,step_s,images\n0,\x1b[2J,1\n"), HasSubstr("step_s is '\\x1b[2J', and must be"));
  std::string header = "a";
  for (int i = 0; i < 10'000; ++i) header += ",b\x07" + std::to_string(i);
  EXPECT_LT(complaint(header + "\n").size(), 1500u);
}

TEST(StepLog, NamesAnotherDelimiter) {
  EXPECT_THAT(complaint("wait_s;step_s;images\n0;1;2\n"),
              HasSubstr("line 1: its columns are separated by semicolons (the first at column 7)"));
  EXPECT_THAT(complaint("wait_s\tstep_s\timages\n"), HasSubstr("tabs"));
}

TEST(StepLog, NamesLineAndColumnOfWhatNobodyCanHaveMeasured) {
  const std::string header = "wait_s,step_s,images,rank\n0,1,2,0\n";
  EXPECT_EQ(complaint(header + "-0.5,1,2,0\n"), "log.csv, line 3, column 1: wait_s is -0.5, and cannot be below 0");
  EXPECT_EQ(complaint(header + "0,nan,2,0\n"), "log.csv, line 3, column 3: step_s is 'nan', and must be a number");
  EXPECT_EQ(complaint(header + "2,1.5,2,0\n"),
            "log.csv, line 3, column 1: wait_s is 2, more than step_s, 1.5, which includes it");
  EXPECT_THAT(complaint(header + "0,inf,2,0\n"), HasSubstr("column 3: step_s is 'inf'"));
  EXPECT_THAT(complaint(header + "0,1e300,2,0\n"), HasSubstr("column 3: step_s is '1e300'"));
  EXPECT_THAT(complaint(header + "0,1 s,2,0\n"), HasSubstr("column 3: step_s is '1 s'"));
  EXPECT_THAT(complaint(header + "0,,2,0\n"), HasSubstr("column 3: step_s is ''"));
  EXPECT_THAT(complaint(header + "0,0,2,0\n"), HasSubstr("column 3: step_s is 0"));
  EXPECT_THAT(complaint(header + "0,1,0,0\n"), HasSubstr("column 5: images is 0"));
  EXPECT_THAT(complaint(header + "0,1,2,0.5\n"), HasSubstr("column 7: rank is 0.5"));
  EXPECT_THAT(complaint(header + "0,1,2,-1\n"), HasSubstr("column 7: rank is -1"));
}

TEST(StepLog, QuotesAForeignFileInPartAndWithoutItsControlCharacters) {
  const std::string wide = std::string(3000, 'x') + "\x1b[2J," + std::string(3000, 'y');
  EXPECT_THAT(complaint(wide + "\n1,2\n").size(), Lt(600u));
  EXPECT_THAT(complaint("\x1b[2J,b\n1,2\n"), HasSubstr("\\x1b[2J', 'b'"));
  const std::string number = std::string(3000, '7') + "\x1b";
  EXPECT_THAT(complaint("wait_s,step_s,images\n" + number + ",1,2\n").size(), Lt(400u));
}

TEST(StepLog, RefusesOneWithoutSteps) {
  EXPECT_THAT(complaint(""), HasSubstr("log.csv: it is empty"));
  EXPECT_THAT(complaint("wait_s,step_s,images\n"), HasSubstr("no step after its header"));
}

}  // namespace
}  // namespace chexbench::verbs
