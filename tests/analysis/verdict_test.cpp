#include "analysis/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/verdicts_of.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using results::with_steps;

// A trial that waits for 40 % of the time: 31 points for map's decoding, 5 for the rest of map, 4 for read. Its cores
// are 62 % busy.
results::TrialResult waiting(int ranks = 1) {
  return results::make_trial({.ranks = ranks, .engine = "emulated:v100"}, {100, 100, 100, 100, 100});
}

results::Finding verdict_of(const results::TrialResult& trial) {
  const std::vector<results::Finding> all = verdicts_of(trial);
  return all.empty() ? results::Finding{} : all.front();
}
// Rank `slow` takes own_s for its part of a step of 0.1 s and waits for wait_s of that; the others take 0.066 s.
results::TrialResult with_slow_rank(results::TrialResult trial, int slow, double own_s, double wait_s) {
  for (results::RepeatResult& repeat : trial.repeats) {
    for (results::StepRecord& step : repeat.steps) {
      const double own = step.rank == slow ? own_s : 0.066;
      const double wait = step.rank == slow ? wait_s : wait_s - (own_s - own);
      step.timings = {.wall_s = 0.1,
                      .wait_s = std::max(wait, 0.0),
                      .compute_s = own - std::max(wait, 0.0),
                      .exposed_communication_s = 0.1 - own};
    }
  }
  return trial;
}

TEST(Verdict, OfATrialThatWaitsNamesTheOpsThatItWaitsFor) {
  EXPECT_EQ(limit_of(waiting()), "input");
  const results::Finding finding = verdict_of(waiting());
  EXPECT_EQ(finding.kind, "starved");
  EXPECT_TRUE(finding.emulated);
  EXPECT_THAT(finding.text,
              HasSubstr("for batches 40 % of the time, because of map (decode) 31 %, map (other) 5 %, read 4 %; "
                        "100 images/s; at most 167 without the wait."));
}

TEST(Verdict, LeavesOutWhatHardlyMadeItWait) {
  results::TrialResult trial = waiting();
  for (results::RepeatResult& repeat : trial.repeats) repeat.waits[0].wait_s = 0.007;
  EXPECT_THAT(verdict_of(trial).text, Not(HasSubstr("read ")));
}

TEST(Verdict, NamesTheCoresWhereTheyAreFull) {
  results::TrialResult trial = waiting();
  for (results::RepeatResult& repeat : trial.repeats) repeat.process_cpu_s = 0.19;
  EXPECT_EQ(limit_of(trial), "cpu");
  EXPECT_EQ(verdict_of(trial).kind, "cpu_starved");
  EXPECT_THAT(verdict_of(trial).text,
              HasSubstr("because the one core of a rank is full (95 % busy): map (decode) 31 %"));
  trial.cores_per_rank = 2;
  EXPECT_EQ(limit_of(trial), "input");
  for (results::RepeatResult& repeat : trial.repeats) repeat.process_cpu_s = 0.38;
  EXPECT_THAT(verdict_of(trial).text, HasSubstr("because the 2 cores of a rank are full (95 % busy)"));
}

TEST(Verdict, NamesTheCoresWhereOthersHaveThem) {
  results::TrialResult trial = waiting();
  for (results::RepeatResult& repeat : trial.repeats) repeat.cpu_wait_s = 0.06;
  EXPECT_EQ(limit_of(trial), "cpu");
  EXPECT_THAT(verdict_of(trial).text,
              HasSubstr("because its threads are ready without a free core for 30 % of it: map"));
}

TEST(Verdict, DoesNotSayThatRanksWaitWhereNoneAveragesGradients) {
  results::TrialResult trial = with_slow_rank(waiting(4), 2, 0.099, 0);
  EXPECT_THAT(verdict_of(trial).headline, HasSubstr("waits for rank 2"));
  EXPECT_THAT(verdict_of(trial).reason, HasSubstr("Averaging gradients"));
  results::TrialResult alone = trial;
  alone.spec.comm.model = spec::CommModel::none;
  trial.spec.engine = "none";
  for (const results::TrialResult& one : {trial, alone}) {
    const results::Finding finding = verdict_of(one);
    EXPECT_EQ(finding.kind, "slow_rank");
    EXPECT_THAT(finding.headline, HasSubstr("is as fast as rank 2"));
    EXPECT_THAT(finding.reason, Not(HasSubstr("radients")));
  }
}

TEST(Verdict, NamesARankThatTheOthersWaitFor) {
  const results::TrialResult trial = with_slow_rank(waiting(4), 2, 0.099, 0);
  EXPECT_EQ(limit_of(trial), "slow_rank");
  EXPECT_THAT(kinds_of(trial), ElementsAre("slow_rank"));
  EXPECT_THAT(verdict_of(trial).text, HasSubstr("rank 2 takes 1.50 x the time of the others"));
}

TEST(Verdict, ASlowRankHidesNoWait) {
  const results::TrialResult mostly_waits = with_slow_rank(waiting(2), 0, 0.099, 0.075);
  EXPECT_EQ(limit_of(mostly_waits), "input");
  EXPECT_THAT(kinds_of(mostly_waits), ElementsAre("starved", "slow_rank"));
  const results::TrialResult waits_a_little = with_slow_rank(waiting(2), 0, 0.099, 0.04);
  EXPECT_EQ(limit_of(waits_a_little), "slow_rank");
  EXPECT_THAT(kinds_of(waits_a_little), ElementsAre("slow_rank", "starved"));
}

TEST(Verdict, TooFewRepeatsMakeNoSlowRankAndNoSlowNetwork) {
  results::TrialResult trial = with_slow_rank(waiting(2), 0, 0.099, 0);
  trial.repeats.resize(2);
  EXPECT_EQ(limit_of(trial), "compute");
  trial.repeats.resize(1);
  EXPECT_EQ(limit_of(trial), "compute");
}

TEST(Verdict, OneSlowRepeatMakesNoSlowRank) {
  results::TrialResult trial = waiting(2);
  for (results::StepRecord& step : trial.repeats[0].steps) {
    if (step.rank == 1) step.timings.exposed_communication_s = -1;
  }
  EXPECT_EQ(limit_of(trial), "input");
}

TEST(Verdict, NamesCommunicationAndUploads) {
  const results::TrialResult slow_network =
      with_steps(waiting(2), {.wall_s = 0.1, .compute_s = 0.07, .exposed_communication_s = 0.03});
  EXPECT_EQ(limit_of(slow_network), "communication");
  EXPECT_THAT(
      verdict_of(slow_network).text,
      AllOf(HasSubstr("communication not overlapped with backward: 30 % of the time"), HasSubstr("at most 143")));
  const results::TrialResult slow_bus = with_steps(waiting(), {.wall_s = 0.1, .upload_s = 0.02, .compute_s = 0.08});
  EXPECT_EQ(limit_of(slow_bus), "upload");
  EXPECT_THAT(verdict_of(slow_bus).text, HasSubstr("held back by uploads: 20 % of the time"));
}

// Lets other processes take `share` of the ranks' time.
results::TrialResult disturbed(results::TrialResult trial, double share) {
  for (results::RepeatResult& repeat : trial.repeats)
    repeat.disturbance = {.core_s = 1, .others_s = share, .own_cpu_s = 1 - share, .own_wait_s = share, .span_s = 1};
  return trial;
}

TEST(Verdict, IsTheMachineOnlyWhereOthersMayHaveMadeIt) {
  const results::TrialResult slow_network =
      with_steps(waiting(2), {.wall_s = 0.1, .compute_s = 0.03, .exposed_communication_s = 0.07});
  EXPECT_EQ(limit_of(disturbed(slow_network, 0.2)), "communication");
  EXPECT_EQ(limit_of(disturbed(slow_network, 0.35)), "machine") << "all of it may have been one rank's";
  const results::TrialResult slow_rank = with_slow_rank(waiting(2), 0, 0.099, 0);
  EXPECT_EQ(limit_of(disturbed(slow_rank, 0.09)), "slow_rank");
  EXPECT_EQ(limit_of(disturbed(slow_rank, 0.12)), "machine");
  EXPECT_EQ(limit_of(disturbed(with_slow_rank(waiting(2), 0, 0.3, 0), 0.3)), "slow_rank");
  EXPECT_EQ(limit_of(disturbed(waiting(), 0.2)), "input");
  EXPECT_EQ(limit_of(disturbed(waiting(), 0.38)), "machine");
}

TEST(Verdict, OfABusyMachineNamesTheShareThatIsInDoubt) {
  const results::TrialResult slow_network =
      with_steps(waiting(2), {.wall_s = 0.1, .compute_s = 0.03, .exposed_communication_s = 0.07});
  EXPECT_THAT(verdict_of(disturbed(slow_network, 0.35)).reason, HasSubstr("communicates for 70 %"));
  EXPECT_THAT(verdict_of(disturbed(waiting(), 0.38)).reason, HasSubstr("waits for batches for 40 %"));
  EXPECT_THAT(verdict_of(disturbed(with_slow_rank(waiting(2), 0, 0.099, 0), 0.12)).reason,
              HasSubstr("waits for its slowest rank for "));
}

TEST(Verdict, IsNotTheMachineWhereRanksHardlyRun) {
  results::TrialResult asleep = disturbed(waiting(), 0.38);
  for (results::RepeatResult& repeat : asleep.repeats) repeat.disturbance.span_s = 10;
  EXPECT_EQ(limit_of(asleep), "input");
}

TEST(Verdict, IsComputeWhereNothingElseHoldsItBack) {
  const results::TrialResult fed = with_steps(waiting(), {.wall_s = 0.1, .wait_s = 0.001, .compute_s = 0.099});
  EXPECT_EQ(limit_of(fed), "compute");
  EXPECT_EQ(verdict_of(fed).kind, "fed");
  EXPECT_THAT(verdict_of(fed).text, HasSubstr("it waits for 1.0 % of the time and is busy for 99 %, 100 images/s"));
  const results::TrialResult nearly = with_steps(waiting(), {.wall_s = 0.1, .wait_s = 0.005, .compute_s = 0.095});
  EXPECT_EQ(limit_of(nearly), "compute");
  EXPECT_EQ(verdict_of(nearly).kind, "");
}

TEST(Verdict, IsNoneOfATrialThatTrainsNothingOrWasNotMeasured) {
  EXPECT_EQ(limit_of(results::make_trial({}, {100})), "");
  EXPECT_EQ(limit_of(results::make_trial({.engine = "onednn"}, {})), "");
}

}  // namespace
}  // namespace chexbench::analysis
