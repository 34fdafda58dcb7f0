#include "verbs/compare/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "results/record_factory.hpp"
#include "verbs/compare_sides.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(CompareRuns, CallAChangeBeyondTheThresholdWorseOrBetter) {
  const Side base = side({results::make_trial({}, kBase)}), less = side({results::make_trial({}, kTenPercentLess)});
  const ComparedArm arm = only_arm(base, less);
  EXPECT_EQ(arm.verdict, Verdict::worse);
  EXPECT_DOUBLE_EQ(arm.ratio->value, 0.9);
  EXPECT_LT(arm.ratio->ci95->low, 0.9);
  EXPECT_GT(arm.ratio->ci95->high, 0.9);
  EXPECT_EQ(only_arm(less, base).verdict, Verdict::better);
  EXPECT_EQ(only_arm(base, less, {.threshold = 0.2}).verdict, Verdict::same);
  EXPECT_EQ(only_arm(base, base).verdict, Verdict::same);
  EXPECT_THAT(only_arm(base, base).note, IsEmpty());
}

TEST(CompareRuns, SayThatNoiseCouldHideALoss) {
  const std::vector<double> noisy{60, 140, 80, 120, 95, 105};
  const ComparedArm arm = only_arm(side({results::make_trial({}, noisy)}), side({results::make_trial({}, noisy)}));
  EXPECT_EQ(arm.verdict, Verdict::undecided);
  EXPECT_THAT(arm.note, HasSubstr("too noisy to rule out a loss or a gain of 5 %: measure more repeats"));
}

TEST(CompareRuns, AreTheSameOnlyIfNoiseHidesNoChange) {
  EXPECT_EQ(judge({.value = 1, .ci95 = measure::Interval{.low = 0.96, .high = 1.04}}, 0.05), Verdict::same);
  EXPECT_EQ(judge({.value = 1.005, .ci95 = measure::Interval{.low = 0.695, .high = 1.36}}, 0.05), Verdict::undecided);
  EXPECT_EQ(judge({.value = 1.03, .ci95 = measure::Interval{.low = 0.97, .high = 1.08}}, 0.05), Verdict::undecided);
  EXPECT_EQ(judge({.value = 1.03, .ci95 = std::nullopt}, 0.05), Verdict::same) << "the threshold alone decides";
}

TEST(CompareRuns, TellAGainThatIsOnlyLessWaiting) {
  Side base = side({results::make_trial({}, kTenPercentLess)});
  for (results::RepeatResult& repeat : base.runs[0].trials[0].repeats) repeat.cpu_wait_s = 9 * repeat.process_cpu_s;
  const ComparedArm arm = only_arm(base, side({results::make_trial({}, kBase)}));
  EXPECT_EQ(arm.verdict, Verdict::better);
  EXPECT_THAT(arm.note,
              HasSubstr("so most of the gain is less waiting: its threads had no core in 4 % of the time that "
                        "they could run, 90 % in the base"));
}

TEST(CompareRuns, TellALossThatIsWaitingFromOneThatIsWork) {
  const Side base = side({results::make_trial({}, kBase)});
  Side other = side({results::make_trial({}, kTenPercentLess)});
  const ComparedArm waits = only_arm(base, other);
  EXPECT_EQ(waits.verdict, Verdict::worse);
  EXPECT_DOUBLE_EQ(*waits.cpu_ratio, 1);
  EXPECT_THAT(waits.note, HasSubstr("costs 1.00 x the CPU time, so most of the loss is waiting: for busy cores"));
  for (results::RepeatResult& repeat : other.runs[0].trials[0].repeats) repeat.cpu_wait_s = repeat.process_cpu_s;
  EXPECT_THAT(only_arm(base, other).note,
              HasSubstr("had no core in 50 % of the time that they could run, 4 % in the base"));
  for (results::RepeatResult& repeat : other.runs[0].trials[0].repeats) repeat.process_cpu_s *= 1.1;
  EXPECT_THAT(only_arm(base, other).note, IsEmpty());
  for (results::RepeatResult& repeat : other.runs[0].trials[0].repeats) repeat.process_cpu_s = 0;
  EXPECT_FALSE(only_arm(base, other).cpu_ratio);
}

TEST(CompareRuns, RepeatWhatASideIsFlaggedWith) {
  const Side base = side({results::make_trial({}, kBase)});
  Side other = side({results::make_trial({}, kBase)});
  other.runs[0].trials[0].unstable = true;
  other.runs[0].trials[0].oversubscribed = true;
  EXPECT_EQ(only_arm(base, other).note, "new: oversubscribed, unstable");
  EXPECT_EQ(only_arm(other, base).note, "base: oversubscribed, unstable");
}

TEST(CompareRuns, JudgeByTheThresholdAloneUnderFiveRepeats) {
  const ComparedArm arm =
      only_arm(side({results::make_trial({}, kBase)}), side({results::make_trial({}, {94, 94, 94, 94})}));
  EXPECT_FALSE(arm.ratio->ci95);
  EXPECT_EQ(arm.verdict, Verdict::worse);
  EXPECT_THAT(arm.note, HasSubstr("by the threshold alone: fewer than five repeats"));
}

// A side of one arm; other processes used half of its cores.
Side busy_side(const std::vector<double>& images_per_s) {
  Side busy = side({results::make_trial({}, images_per_s)});
  for (results::RepeatResult& repeat : busy.runs[0].trials[0].repeats)
    repeat.disturbance = {.core_s = 1, .others_s = 0.5, .own_cpu_s = 0.5, .own_wait_s = 0.5, .span_s = 1};
  return busy;
}

TEST(CompareRuns, LeaveOpenWhatABusyMachineMayHaveMade) {
  const Side base = busy_side({50, 51, 49, 50, 52, 50});
  const ComparedArm arm = only_arm(base, side({results::make_trial({}, {100, 101, 99, 100, 102, 100})}));
  EXPECT_EQ(arm.verdict, Verdict::undecided);
  EXPECT_EQ(arm.grade, results::Grade::machine_too_busy);
  EXPECT_THAT(arm.note, HasSubstr("machine too busy to tell: measure again"));
  const ComparedArm large = only_arm(base, side({results::make_trial({}, {300, 301, 299, 300, 302, 300})}));
  EXPECT_EQ(large.verdict, Verdict::better) << "others cannot have made a factor of six";
}

TEST(CompareRuns, LeaveOpenWhatUnlikeLoadsMayHaveMadeOnTwoBusySides) {
  const Side base = busy_side({50, 51, 49, 50, 52, 50});
  for (const Side& other : {busy_side({80, 81, 79, 80, 82, 80}), busy_side({30, 31, 29, 30, 32, 30})}) {
    const ComparedArm arm = only_arm(base, other);
    EXPECT_EQ(arm.verdict, Verdict::undecided);
    EXPECT_EQ(arm.grade, results::Grade::machine_too_busy);
  }
}

TEST(CompareRuns, NameTheKeysOfRunsOfUnlikeSettings) {
  results::TrialResult other = results::make_trial({.pipeline = "naive"}, kBase);
  other.spec.training.batch_size = 64;
  const RunComparison comparison = compare_runs(side({results::make_trial({}, kBase)}), side({other}), {});
  ASSERT_TRUE(comparison.nearest);
  EXPECT_THAT(
      format_comparison(comparison, "table"),
      AllOf(HasSubstr("The nearest trials are optimized images ranks=1 in the base and naive images ranks=1 in the new "
                      "one, which differ in "),
            HasSubstr("training.batch_size: 16 against 64")));
}

TEST(CompareRuns, TakeTheMedianOfARunAsOneValueWhereThereAreSeveral) {
  Side base = runs({100, 101, 99, 100, 102});
  base.runs[0].trials = {results::make_trial({}, {50, 100, 170})};
  const ComparedArm arm = only_arm(base, runs({90, 91, 89, 90, 92}));
  EXPECT_THAT(arm.base.images_per_s, ElementsAre(100, 101, 99, 100, 102));
  EXPECT_TRUE(arm.ratio->ci95);
  EXPECT_EQ(arm.verdict, Verdict::worse);
}

TEST(CompareRuns, HaveNoIntervalWhereOneSideIsASingleRunOfManyRepeats) {
  const ComparedArm arm = only_arm(runs({100, 101, 99, 100, 102}), side({results::make_trial({}, kTenPercentLess)}));
  EXPECT_THAT(arm.other.images_per_s, ElementsAre(90));
  EXPECT_THAT(arm.note, HasSubstr("fewer than five runs"));
}

TEST(CompareRuns, MatchArmsByTheirSpecWhateverTheOrderAndTheNames) {
  results::TrialResult renamed = results::make_trial({.pipeline = "naive"}, {50});
  renamed.name = "another name";
  renamed.spec.name = "another experiment";
  renamed.spec.measure.repeats = 1;
  const RunComparison comparison =
      compare_runs(side({results::make_trial({.pipeline = "naive"}, {50}), results::make_trial({}, {100})}),
                   side({results::make_trial({}, {100}), renamed}), {});
  ASSERT_THAT(comparison.arms, SizeIs(2));
  EXPECT_DOUBLE_EQ(comparison.arms[0].ratio->value, 1);
  EXPECT_DOUBLE_EQ(comparison.arms[1].ratio->value, 1);
}

TEST(CompareRuns, ListArmsOfOneSideAlone) {
  const RunComparison comparison =
      compare_runs(side({results::make_trial({}, {1}), results::make_trial({.pipeline = "naive"}, {1})}),
                   side({results::make_trial({}, {1}), results::make_trial({.ranks = 2}, {1})}), {});
  EXPECT_THAT(comparison.arms, SizeIs(1));
  EXPECT_THAT(comparison.only_in_base, ElementsAre("naive images ranks=1"));
  EXPECT_THAT(comparison.only_in_other, ElementsAre("optimized images ranks=2"));
}

TEST(CompareRuns, PassOverTrialsThatWereNotReached) {
  const RunComparison comparison =
      compare_runs(side({results::make_trial({}, {1}), results::make_trial({.ranks = 2}, {})}),
                   side({results::make_trial({}, {1}), results::make_trial({.ranks = 2}, {1})}), {});
  EXPECT_THAT(comparison.arms, SizeIs(1));
  EXPECT_THAT(comparison.only_in_other, SizeIs(1));
}

TEST(CompareRuns, NameTheKeysInWhichArmsOfOneNameDiffer) {
  results::TrialResult changed = results::make_trial({}, kBase);
  changed.spec.training.batch_size = 32;
  changed.spec.pipeline.ops.back().parameters.begin()->second = std::int64_t{7};
  const ComparedArm arm = only_arm(side({results::make_trial({}, kBase)}), side({changed}));
  EXPECT_EQ(arm.verdict, Verdict::not_comparable);
  EXPECT_FALSE(arm.ratio);
  ASSERT_THAT(arm.differences, SizeIs(2));
  EXPECT_THAT(arm.differences[0].key, testing::StartsWith("pipeline.ops["));
  const ComparedArm varied = only_arm(side({results::make_trial({}, kBase)}), side({changed}),
                                      {.vary = {arm.differences[0].key, "training.batch_size"}});
  EXPECT_EQ(varied.verdict, Verdict::same);
  EXPECT_THAT(varied.allowed, SizeIs(2));
  EXPECT_EQ(arm.differences[1].key, "training.batch_size");
  EXPECT_EQ(arm.differences[1].base, "16");
  EXPECT_EQ(arm.differences[1].other, "32");
}

TEST(CompareRuns, PairAnOlderNameOfAFormatWithTodays) {
  results::TrialResult older = results::make_trial({}, kBase), changed = results::make_trial({}, kBase);
  older.name = "optimized png ranks=1";
  changed.name = "optimized images ranks=1";
  changed.spec.training.batch_size = 32;
  const ComparedArm arm = only_arm(side({older}), side({changed}));
  EXPECT_EQ(arm.verdict, Verdict::not_comparable);
  EXPECT_THAT(arm.differences, SizeIs(1));
}

TEST(CompareRuns, TellThatTheDataLieElsewhereOrRanksHaveOtherCores) {
  results::TrialResult moved = results::make_trial({}, kBase);
  moved.spec.data.root = "/nfs/nih";
  moved.cores_per_rank = 4;
  const Side base = side({results::make_trial({}, kBase)});
  EXPECT_THAT(keys(only_arm(base, side({moved})).differences), ElementsAre("cores_per_rank", "data.root"));
  const ComparedArm allowed = only_arm(base, side({moved}), {.across_machines = true});
  EXPECT_EQ(allowed.verdict, Verdict::same);
  EXPECT_THAT(keys(allowed.allowed), ElementsAre("cores_per_rank", "data.root"));
}

TEST(CompareRuns, KeepArmsApartThatOnlyTheirDataTellApart) {
  results::TrialResult local = results::make_trial({}, {100});
  results::TrialResult remote = results::make_trial({}, {50});
  remote.spec.data.root = "/nfs/nih";
  const RunComparison comparison = compare_runs(side({local, remote}), side({local, remote}), {});
  ASSERT_THAT(comparison.arms, SizeIs(2));
  EXPECT_EQ(comparison.arms[1].base.median(), 50);
  EXPECT_EQ(comparison.arms[1].verdict, Verdict::same);
}

TEST(CompareRuns, OfEmulatedEnginesNeedTheSameSourceOfStepTimes) {
  const Side base = side({results::make_trial({.engine = "emulated:v100"}, kBase)});
  Side other = base;
  other.runs[0].trials[0].engine_source = "another publication";
  EXPECT_EQ(only_arm(base, base).verdict, Verdict::same);
  EXPECT_EQ(only_arm(base, other, {.across_machines = true}).verdict, Verdict::not_comparable);
}

TEST(CompareRuns, RefuseSidesThatMeasuredNothing) {
  const Side good = side({results::make_trial({}, {1})});
  for (const Side& bad : {side({}, "the side"), side({results::make_trial({}, {})}, "the side")}) {
    EXPECT_THAT(message_of<DataError>([&] { compare_runs(good, bad, {}); }),
                AllOf(HasSubstr("the side"), HasSubstr("nothing to compare")));
  }
}

TEST(CompareRuns, RefuseRatesThatNobodyCanHaveMeasured) {
  for (const double rate : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(compare_runs(side({results::make_trial({}, {1})}), side({results::make_trial({}, {1, rate})}), {}),
                 DataError)
        << rate;
  }
}

TEST(CompareRuns, RefuseAThresholdThatNoRatioCouldPass) {
  const Side one = side({results::make_trial({}, {1})});
  for (const double threshold : {0.0, 1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(compare_runs(one, one, {.threshold = threshold}), SpecError) << threshold;
  }
}

TEST(CompareRuns, RefuseAFolderOfSeveralExperiments) {
  Side mixed = runs({1, 1});
  mixed.runs[1].experiment = "another";
  EXPECT_THROW(compare_runs(mixed, runs({1}), {}), DataError);
}

}  // namespace
}  // namespace chexbench::verbs
