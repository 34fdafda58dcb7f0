#include <gtest/gtest.h>

#include "analysis/derive.hpp"
#include "results/figures.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

TEST(Figures, ThroughputIsMedianMadAndIntervalOverRepeats) {
  const results::Figures figures = results::figures_of(results::make_trial({}, {100, 104, 102, 90, 103}));
  EXPECT_DOUBLE_EQ(*figures.images_per_s, 102);
  EXPECT_DOUBLE_EQ(*figures.images_per_s_mad, 2);  // deviations 2 2 0 12 1
  ASSERT_TRUE(figures.images_per_s_ci95.has_value());
  EXPECT_DOUBLE_EQ(figures.images_per_s_ci95->low, 90);
  EXPECT_DOUBLE_EQ(figures.images_per_s_ci95->high, 104);
}

TEST(Figures, FewRepeatsHaveNoIntervalAndOneHasNoDeviation) {
  EXPECT_FALSE(results::figures_of(results::make_trial({}, {100})).images_per_s_mad.has_value());
  EXPECT_FALSE(results::figures_of(results::make_trial({}, {100, 104, 102, 90})).images_per_s_ci95.has_value());
}

TEST(Figures, OfATrialWithoutRepeatsAreAllEmpty) {
  const results::Figures figures = results::figures_of(results::make_trial({}, {}));
  EXPECT_FALSE(figures.images_per_s.has_value());
  EXPECT_FALSE(figures.images_per_s_mad.has_value());
  EXPECT_FALSE(figures.wait_share.has_value());
  EXPECT_FALSE(figures.scaling_efficiency.has_value());
  EXPECT_FALSE(figures.decoded_per_trained.has_value());
}

TEST(Figures, SharesAreSumsOverStepsAndRanksDividedByTheirWallTime) {
  results::TrialResult trial = results::make_trial({.ranks = 2}, {100});
  // Rank 1's second step takes 300 ms more, all of it waiting: 4 x 100 ms + 300 ms in all.
  trial.repeats[0].steps[3].timings.wall_s += 0.3;
  trial.repeats[0].steps[3].timings.wait_s += 0.3;
  const results::Figures figures = results::figures_of(trial);
  EXPECT_NEAR(*figures.wait_share, (4 * 0.040 + 0.3) / 0.7, 1e-12);
  EXPECT_NEAR(*figures.upload_share, 4 * 0.005 / 0.7, 1e-12);
  EXPECT_NEAR(*figures.compute_share, 4 * 0.030 / 0.7, 1e-12);
  EXPECT_NEAR(*figures.exposed_communication_share, 4 * 0.010 / 0.7, 1e-12);
  EXPECT_NEAR(*figures.update_share, 4 * 0.008 / 0.7, 1e-12);
  EXPECT_NEAR(*figures.other_share, 4 * 0.007 / 0.7, 1e-12);
}

TEST(Figures, SharesAreThoseOfTheRepeatsThatMakeTheMedian) {
  results::TrialResult trial = results::make_trial({}, {100, 20, 104, 102, 103});
  for (results::StepRecord& step : trial.repeats[1].steps) step.timings.wait_s = step.timings.wall_s = 0.4;
  EXPECT_NEAR(*results::figures_of(trial).wait_share, 0.4, 1e-12);
}

TEST(Figures, SharesSumToOne) {
  const results::Figures figures = results::figures_of(results::make_trial({.ranks = 2}, {100, 110}));
  EXPECT_NEAR(*figures.wait_share + *figures.upload_share + *figures.compute_share +
                  *figures.exposed_communication_share + *figures.update_share + *figures.other_share,
              1, 1e-12);
}

TEST(Figures, BusyIsUploadComputeAndUpdate) {
  EXPECT_NEAR(*results::figures_of(results::make_trial({}, {100})).busy_share, 0.05 + 0.30 + 0.08, 1e-12);
}

TEST(DecodedPerTrained, CountsImagesHeldAsUsed) {
  results::TrialResult trial = results::make_trial({}, {100});
  const auto figure = [&trial](std::uint64_t trained, std::uint64_t decoded, std::int64_t held_change) {
    trial.repeats[0].images_trained = trained;
    trial.repeats[0].images_decoded = decoded;
    trial.repeats[0].images_held_change = held_change;
    return results::figures_of(trial).decoded_per_trained;
  };
  EXPECT_EQ(figure(64, 144, 8), 2.0) << "eight of them are in buffers";
  EXPECT_EQ(figure(32, 24, -8), 1.0) << "buffers that run empty do not flatter it";
  EXPECT_EQ(figure(32, 0, -32), std::nullopt) << "everything came from buffers";
  trial.spec.data.format = spec::DataFormat::ready;
  EXPECT_EQ(figure(32, 32, 0), std::nullopt) << "nothing is decoded by design";
}

TEST(BufferFed, IsSetByRepeatsThatMayHaveMadeTheMedian) {
  results::TrialResult trial = results::make_trial({}, {100, 101, 102, 103, 104});
  EXPECT_FALSE(results::figures_of(trial).buffer_fed);
  trial.repeats[4].buffer_fed = true;
  EXPECT_FALSE(results::figures_of(trial).buffer_fed) << "one of five, and not that in the middle";
  trial.repeats[3].buffer_fed = true;
  EXPECT_TRUE(results::figures_of(trial).buffer_fed);
  trial.repeats[3].buffer_fed = trial.repeats[4].buffer_fed = false;
  trial.repeats[2].buffer_fed = true;
  EXPECT_TRUE(results::figures_of(trial).buffer_fed) << "that in the middle";
  trial.spec.data.format = spec::DataFormat::ready;
  EXPECT_FALSE(results::figures_of(trial).buffer_fed);
}

TEST(Memory, IsTheLargestOfTheRepeats) {
  const results::Figures figures = results::figures_of(results::make_trial({}, {100, 100}));
  EXPECT_EQ(figures.peak_rss_bytes, 500'000'001u);
  EXPECT_EQ(figures.anonymous_rss_bytes, 300'000'000u);
}

TEST(AcceleratorUtilization, IsComputeOverTheTimeOfTheRunOnAllRanks) {
  results::TrialResult trial = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100});
  trial.repeats[0].wall_s = 0.4;  // of the slowest rank: 0.8 s of two accelerators
  EXPECT_NEAR(*results::figures_of(trial).au_share, 4 * (0.030 + 0.008) / 0.8, 1e-12);
}

TEST(AcceleratorUtilization, IsEmptyForRealEngines) {
  EXPECT_FALSE(results::figures_of(results::make_trial({.engine = "onednn"}, {100})).au_share.has_value());
}

TEST(ImagesPerSecondPerCore, DividesByTheCoresOfAllRanks) {
  results::TrialResult trial = results::make_trial({.ranks = 2}, {120});
  trial.cores_per_rank = 3;
  EXPECT_DOUBLE_EQ(*results::figures_of(trial).images_per_s_per_core, 20);
  trial.oversubscribed = true;
  EXPECT_FALSE(results::figures_of(trial).images_per_s_per_core.has_value());
}

TEST(Figures, OfAnEpochComeFromTheImagesOfTheSplit) {
  results::TrialResult trial = results::make_trial({}, {120});
  trial.data.images = 600;
  EXPECT_DOUBLE_EQ(*results::figures_of(trial).epoch_s, 5);
  trial.data.images = 0;
  EXPECT_FALSE(results::figures_of(trial).epoch_s.has_value());
}

class ScalingEfficiency : public testing::Test {
 protected:
  std::optional<double> efficiency() const { return derive_figures(four_, {one_, four_}).scaling_efficiency; }

  results::TrialResult one_ = results::make_trial({.ranks = 1}, {90, 100, 110});
  results::TrialResult four_ = results::make_trial({.ranks = 4}, {320, 300, 310});
};

TEST_F(ScalingEfficiency, ComparesMediansWithTheSameArmAtOneRank) { EXPECT_DOUBLE_EQ(*efficiency(), 310.0 / 400.0); }

TEST_F(ScalingEfficiency, OfOneRankIsOne) {
  EXPECT_DOUBLE_EQ(*derive_figures(one_, {one_, four_}).scaling_efficiency, 1);
}

TEST_F(ScalingEfficiency, HasAnIntervalFromFiveRepeatsOn) {
  EXPECT_FALSE(derive_figures(four_, {one_, four_}).scaling_efficiency_ci95.has_value());
  one_ = results::make_trial({.ranks = 1}, {98, 99, 100, 101, 102});
  four_ = results::make_trial({.ranks = 4}, {320, 330, 310, 324, 316});
  const results::Figures figures = derive_figures(four_, {one_, four_});
  EXPECT_DOUBLE_EQ(*figures.speedup, 3.2);
  EXPECT_LT(figures.scaling_efficiency_ci95->low, 0.8);
  EXPECT_GT(figures.scaling_efficiency_ci95->high, 0.8);
  EXPECT_GT(figures.scaling_efficiency_ci95->low, 310.0 / 408) << "no wider than the repeats";
  EXPECT_FALSE(derive_figures(one_, {one_, four_}).scaling_efficiency_ci95.has_value()) << "compared with itself";
}

TEST_F(ScalingEfficiency, IsEmptyWithoutATrialAtOneRankThatDiffersInNothingElse) {
  using Trial = results::TrialResult;
  const auto is_empty_if = [this](auto change) {
    Trial one = one_, four = four_;
    change(one, four);
    return !derive_figures(four, {one, four}).scaling_efficiency.has_value();
  };
  EXPECT_FALSE(derive_figures(four_, {four_}).scaling_efficiency.has_value());
  EXPECT_TRUE(is_empty_if([](Trial& one, Trial&) { one.spec.training.batch_size = 32; })) << "another arm";
  EXPECT_TRUE(is_empty_if([](Trial& one, Trial&) { one.spec.pipeline.ops[0].parameters["buffer"] = std::int64_t{7}; }));
  EXPECT_TRUE(is_empty_if([](Trial& one, Trial&) { one.cores_per_rank = 4; }));
  EXPECT_TRUE(is_empty_if([](Trial& one, Trial& four) { one.spec.all_cores = four.spec.all_cores = true; }));
  EXPECT_TRUE(is_empty_if([](Trial&, Trial& four) { four.oversubscribed = true; })) << "ranks share cores";
  EXPECT_TRUE(is_empty_if([](Trial& one, Trial&) { one.repeats.clear(); }));
}

TEST_F(ScalingEfficiency, IsKeptWhereOnlyEmulatedRanksShareCores) {
  four_.oversubscribed = true;
  one_.spec.engine = four_.spec.engine = "emulated:v100";
  one_.emulated = four_.emulated = true;
  EXPECT_DOUBLE_EQ(*efficiency(), 310.0 / 400.0);
}

TEST(SameArm, IgnoresRanksAlone) {
  const results::TrialResult trial = results::make_trial({.ranks = 1}, {1});
  EXPECT_TRUE(same_arm(trial, results::make_trial({.ranks = 2}, {2})));
  EXPECT_FALSE(same_arm(trial, results::make_trial({.pipeline = "naive", .ranks = 2}, {2})));
  EXPECT_FALSE(same_arm(trial, results::make_trial({.format = spec::DataFormat::tfrecord}, {2})));
}

TEST(Evaluation, HasTheFiguresOfEachTrialAndTheMeasuredOnesInTheirOrder) {
  const results::Report report = results::make_report(
      {results::make_trial({.pipeline = "naive"}, {100, 101, 99, 98, 97}),
       results::make_trial({.pipeline = "keras"}, {}), results::make_trial({}, {200, 201, 199, 198, 197})});
  const Evaluation evaluation(report);
  ASSERT_EQ(evaluation.figures.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const results::Figures alone = derive_figures(report.trials[i], report.trials);
    EXPECT_EQ(evaluation.figures[i].images_per_s, alone.images_per_s);
    EXPECT_EQ(evaluation.figures[i].images_per_s_ci95.has_value(), alone.images_per_s_ci95.has_value());
  }
  ASSERT_EQ(evaluation.measured.size(), 2U);
  EXPECT_EQ(&evaluation.measured[0].trial, &report.trials[0]);
  EXPECT_EQ(&evaluation.measured[1].trial, &report.trials[2]);
  EXPECT_EQ(evaluation.measured[1].images_per_s(), 199);
}

}  // namespace
}  // namespace chexbench::analysis
