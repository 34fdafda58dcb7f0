#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;
using testing::SizeIs;

// Returns the message of the error that reading `text` as the log "log.csv" gives.
std::string complaint(const std::string& text) {
  return message_of<DataError>([&] { step_log_from_csv(text, "log.csv"); });
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
            "log.csv, line 1: there is no column 'wait_s'; if 'waits_s' holds it, rename that column");
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
  const std::pair<const char*, const char*> cases[] = {
      {"-0.5,1,2,0", "log.csv, line 3, column 1: wait_s is -0.5, and cannot be below 0"},
      {"0,nan,2,0", "log.csv, line 3, column 3: step_s is 'nan', and must be a number"},
      {"2,1.5,2,0", "log.csv, line 3, column 1: wait_s is 2, more than step_s, 1.5, which includes it"},
      {"0,inf,2,0", "column 3: step_s is 'inf'"},
      {"0,1e300,2,0", "column 3: step_s is '1e300'"},
      {"0,1 s,2,0", "column 3: step_s is '1 s'"},
      {"0,,2,0", "column 3: step_s is ''"},
      {"0,0,2,0", "column 3: step_s is 0"},
      {"0,1,0,0", "column 5: images is 0"},
      {"0,1,2,0.5", "column 7: rank is 0.5"},
      {"0,1,2,-1", "column 7: rank is -1"}};
  for (const auto& [row, says] : cases)
    EXPECT_THAT(complaint(std::string("wait_s,step_s,images,rank\n0,1,2,0\n") + row + "\n"), HasSubstr(says));
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

// Which logs belong to which rank.

// A log of one step of a process, which names no rank.
NamedLog log_of(const std::string& process, double begin_s, double end_s, double wait_s = 0) {
  return {.name = process + " at " + std::to_string(begin_s),
          .log = {.steps = {{.wait_s = wait_s, .step_s = 1}},
                  .counts_images = false,
                  .names_ranks = false,
                  .span = LogSpan{begin_s, end_s},
                  .process = process}};
}

NamedLog of_rank(int rank, NamedLog log) {
  log.log.names_ranks = true;
  for (LoggedStep& step : log.log.steps) step.rank = rank;
  return log;
}

// The rank of each step, by the beginnings of logs in whole seconds.
std::vector<int> ranks(const std::vector<NamedLog>& logs) {
  std::vector<int> found;
  for (const LoggedStep& step : join_logs(logs, 0).steps) found.push_back(step.rank);
  return found;
}

TEST(JoinLogs, ThatOverlapInTimeAreOfTwoRanks) {
  EXPECT_THAT(ranks({log_of("7", 0, 10), log_of("8", 5, 15)}), ElementsAre(0, 1));
  EXPECT_THAT(ranks({log_of("7", 0, 10), log_of("7", 0, 10)}), ElementsAre(0, 1));
}

TEST(JoinLogs, OneAfterTheOtherAreOfOneRankInTheOrderOfTime) {
  EXPECT_THAT(ranks({log_of("7", 0, 10), log_of("7", 10, 20), log_of("7", 30, 40)}), ElementsAre(0, 0, 0));
  constexpr double kToday_s = 1.8e9;
  EXPECT_THAT(ranks({log_of("7", kToday_s, kToday_s + 10), log_of("8", kToday_s + 20, kToday_s + 30)}),
              ElementsAre(0, 0));
  EXPECT_THAT(ranks({log_of("7", 0, 10), log_of("8", 20, 30)}), ElementsAre(0, 1)) << "two hosts may have started then";
  const StepLog joined = join_logs({log_of("7", 20, 30, 0.5), log_of("7", 0, 10, 0.25)}, 4);
  EXPECT_EQ(joined.steps.at(0).wait_s, 0.25);
  EXPECT_EQ(joined.steps.at(1).wait_s, 0.5);
  EXPECT_EQ(joined.steps.at(1).images, 4);
  EXPECT_THAT(joined.notes, ElementsAre(HasSubstr("2 traces")));
}

TEST(JoinLogs, OfOneProcessBelongTogetherInAnyOrder) {
  const NamedLog a1 = log_of("7", 0, 10), b1 = log_of("8", 1, 11), a2 = log_of("7", 20, 30), b2 = log_of("8", 21, 31);
  for (const auto& logs : {std::vector{a1, b1, a2, b2}, {a1, b2, a2, b1}, {a2, a1, b1, b2}})
    EXPECT_THAT(ranks(logs), ElementsAre(0, 1, 0, 1));
}

TEST(JoinLogs, OfOneRankMayFollowOnOneAnother) {
  EXPECT_THAT(ranks({of_rank(3, log_of("7", 0, 10)), of_rank(3, log_of("7", 20, 30)), of_rank(1, log_of("7", 5, 9))}),
              ElementsAre(3, 1, 3));
  EXPECT_THAT(message_of<DataError>([] {
                ranks({of_rank(3, log_of("7", 0, 10)), of_rank(3, log_of("8", 5, 30))});
              }),
              AllOf(HasSubstr("8 at 5"), HasSubstr("rank 3"), HasSubstr("7 at 0")));
}

TEST(JoinLogs, ThatDoNotSayWhenAreOfARankEach) {
  NamedLog one = log_of("", 0, 1);
  one.log.span.reset();
  EXPECT_THAT(ranks({one, one, one}), ElementsAre(0, 1, 2));
  EXPECT_THROW(ranks({of_rank(2, one), of_rank(2, one)}), DataError);
}

}  // namespace
}  // namespace chexbench::verbs
