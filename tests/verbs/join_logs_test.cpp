// Which logs belong to which rank.
#include "verbs/diagnose/join_logs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

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
  try {
    ranks({of_rank(3, log_of("7", 0, 10)), of_rank(3, log_of("8", 5, 30))});
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("8 at 5"), HasSubstr("rank 3"), HasSubstr("7 at 0")));
  }
}

TEST(JoinLogs, ThatDoNotSayWhenAreOfARankEach) {
  NamedLog one = log_of("", 0, 1);
  one.log.span.reset();
  EXPECT_THAT(ranks({one, one, one}), ElementsAre(0, 1, 2));
  EXPECT_THROW(ranks({of_rank(2, one), of_rank(2, one)}), DataError);
}

}  // namespace
}  // namespace chexbench::verbs
