#include "analysis/utilization.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/answer.hpp"
#include "analysis/findings.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Steps of 100 ms: 38 compute and 40 wait: 31 for decoding, 5 for the rest of map, 4 for reading.
results::TrialResult judged(std::optional<double> target, const std::string& engine = "emulated:v100") {
  results::TrialResult trial = results::make_trial({.engine = engine}, {100, 100, 100, 100, 100});
  trial.spec.measure.target_au = target;
  return trial;
}

results::TrialResult that_waits_for_reading() {
  results::TrialResult trial = judged(0.9);
  for (results::RepeatResult& repeat : trial.repeats)
    repeat.waits = {{.rank = 0, .op_index = 0, .op = "interleave", .wait_s = 0.07},
                    {.rank = 0, .op_index = 1, .op = "map", .part = "decode", .wait_s = 0.01}};
  return trial;
}

std::vector<results::Finding> findings_of(const results::TrialResult& trial) {
  return utilization_findings(trial, results::figures_of(trial));
}

TEST(Utilization, IsTheShareOfTheTimeInWhichAcceleratorsCompute) {
  EXPECT_THAT(utilization_of_repeats(judged({})), testing::Each(testing::DoubleNear(0.38, 1e-12)));
  EXPECT_NEAR(*results::figures_of(judged({})).au_share, 0.38, 1e-12);
  EXPECT_THAT(utilization_of_repeats(judged({}, "none")), IsEmpty());
}

TEST(Utilization, IsJudgedByItsMeanOverRepeats) {
  results::TrialResult trial = judged(0.381);
  EXPECT_EQ(passes(trial), false);
  for (results::StepRecord& step : trial.repeats[0].steps) step.timings.compute_s += 0.0051;
  EXPECT_EQ(passes(trial), true);
  EXPECT_EQ(passes(judged({}, "none")), std::nullopt);
}

TEST(Utilization, ThatFailsIsCalledDecodeBoundWhereDecodingIsMostOfItsWaits) {
  const auto findings = findings_of(judged(0.855));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "au");
  EXPECT_TRUE(findings[0].emulated);
  EXPECT_THAT(findings[0].text,
              AllOf(HasSubstr("has an AU of 38.0 %, which misses the pass mark of 85.5 %: decode-bound, not "
                              "storage-bound."),
                    HasSubstr("Decoding and resizing take 89 % of the work on an image, reading 11 %; the cores are")));
  EXPECT_EQ(findings[0].headline, "fails with an AU of 38.0 %, of 85.5 % needed");
  EXPECT_THAT(findings[0].advice, HasSubstr("faster storage would gain nothing"));
  EXPECT_THAT(findings[0].command, HasSubstr("advise"));
  EXPECT_NEAR(findings[0].worth_share, 0.62, 1e-9);
}

TEST(Utilization, ThatFailsIsCalledStorageBoundWhereReadingIs) {
  const auto findings = findings_of(that_waits_for_reading());
  EXPECT_THAT(findings.at(0).text, HasSubstr("storage-bound, not decode-bound"));
  EXPECT_THAT(findings.at(0).advice, HasSubstr("faster storage or more at once"));
}

TEST(Utilization, ThatFailsForAnotherOpNamesIt) {
  results::TrialResult trial = judged(0.9);
  for (results::RepeatResult& repeat : trial.repeats)
    repeat.waits = {{.rank = 0, .op_index = 2, .op = "shuffle", .wait_s = 0.07},
                    {.rank = 0, .op_index = 1, .op = "map", .part = "decode", .wait_s = 0.01}};
  EXPECT_THAT(findings_of(trial).at(0).text, HasSubstr("misses the pass mark of 90 %: bound by shuffle."));
  EXPECT_EQ(findings_of(trial).at(0).advice, "");
}

TEST(Utilization, CountsWaitingForACoreNeitherAsReadingNorAsDecoding) {
  results::TrialResult trial = judged(0.9);
  for (results::RepeatResult& repeat : trial.repeats) {
    repeat.waits = {{.rank = 0, .op_index = 1, .op = "worker_batches", .part = "other", .wait_s = 0.07},
                    {.rank = 0, .op_index = 1, .op = "worker_batches", .part = "decode", .wait_s = 0.006},
                    {.rank = 0, .op_index = 1, .op = "worker_batches", .part = "read", .wait_s = 0.002}};
  }
  EXPECT_THAT(findings_of(trial).at(0).text, HasSubstr("decode-bound, not storage-bound. Decoding and resizing take 75 "
                                                       "% of the work"));
}

TEST(Utilization, ThatPassesNeedsNoReason) {
  const auto findings = findings_of(judged(0.375));
  EXPECT_THAT(findings.at(0).text, HasSubstr("which reaches the pass mark of 37.5 %."));
  EXPECT_EQ(findings[0].advice, "");
  EXPECT_EQ(findings[0].worth_share, 0);
}

TEST(Utilization, SaysNothingOfAReasonThatOthersMayHaveMade) {
  results::TrialResult trial = judged(0.9);
  for (results::RepeatResult& repeat : trial.repeats) repeat.disturbance = results::make_disturbance();
  ASSERT_EQ(results::figures_of(trial).limit, results::LimitedBy::machine);
  EXPECT_THAT(findings_of(trial).at(0).text, HasSubstr("misses the pass mark of 90 %; the reason is unclear."));
  EXPECT_EQ(input_bound(results::figures_of(trial)), "");
}

TEST(Utilization, IsToldOnlyWhereTheSpecAsksForIt) {
  EXPECT_THAT(findings_of(judged({})), IsEmpty());
  EXPECT_THAT(findings_of(judged(0.9, "none")), IsEmpty());
  const auto all = derive_findings({judged(0.9)});
  EXPECT_THAT(all, Contains(testing::Field(&results::Finding::kind, "au")));
}

TEST(Utilization, StandsInTheAnswer) {
  const Answer answer = derive_answer(results::make_report({judged(0.9)}));
  EXPECT_THAT(answer.lines,
              Contains("optimized images ranks=1 (emulated) has an AU of 38.0 %, which misses the pass mark of 90 %: "
                       "decode-bound, not storage-bound."));
  EXPECT_LE(answer.lines.size(), kMostAnswerLines);
}

}  // namespace
}  // namespace chexbench::analysis
