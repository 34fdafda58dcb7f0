#include "verbs/predict/prediction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// 100 images/s on one accelerator, whose input nothing limits; a step of 16 images takes 160 ms.
Training training() {
  Training training;
  training.profile.entries = {
      {.model = "resnet50", .image_size = 224, .batch_size = 16, .images_per_s = 100, .backward_share = 0.75}};
  training.network.comm.alpha_s = 0;
  training.network.comm.beta_bytes_per_s = 1e15;
  return training;
}

PredictionRow at(const Training& training, int ranks) { return predict(training, {ranks}).front(); }

TEST(Prediction, OfAFastNetworkGrowsWithRanks) {
  const PredictionRow row = at(training(), 8);
  EXPECT_NEAR(row.images_per_s, 800, 0.01);
  EXPECT_NEAR(row.efficiency, 1, 1e-5);
  EXPECT_EQ(row.limit, "compute");
  EXPECT_TRUE(row.linear());
}

TEST(Prediction, SaysWhichRowsRestOnAComputedSpeed) {
  Training strong = training();
  strong.scaling = Scaling::strong;
  strong.profile.entries.push_back(strong.profile.entries[0]);
  strong.profile.entries[1].batch_size = 4;
  strong.profile.entries[1].computed = true;
  EXPECT_FALSE(at(strong, 1).step_time_computed);
  EXPECT_TRUE(at(strong, 2).step_time_computed) << "between a sourced and a computed batch";
  EXPECT_TRUE(at(strong, 4).step_time_computed);
  EXPECT_THAT(prediction_notes(strong, predict(strong, {1, 2, 4})), Contains(HasSubstr("at batch 4, 8 was computed")));
  EXPECT_THAT(prediction_notes(strong, predict(strong, {1})), testing::Each(testing::Not(HasSubstr("computed"))));
}

TEST(Prediction, IsLimitedByTheCoresThatDecode) {
  Training slow = training();
  slow.input.images_per_s_per_rank = 80;
  const PredictionRow row = at(slow, 4);
  EXPECT_DOUBLE_EQ(row.images_per_s, 320);
  EXPECT_EQ(row.limit, "decode");
  EXPECT_DOUBLE_EQ(row.efficiency, 1);  // a single rank is slowed down as much
  EXPECT_DOUBLE_EQ(row.accelerator_share(), 0.8);
  EXPECT_TRUE(row.starves());
  EXPECT_FALSE(row.linear());
}

TEST(Prediction, IsNotLinearWhereANetworkBarelySlowerThanAStarvedInputLimits) {
  Training slow = training();
  slow.input.images_per_s_per_rank = 20;
  slow.network.comm.beta_bytes_per_s = 1e7;
  const PredictionRow row = at(slow, 4);
  EXPECT_EQ(row.limit, "network");
  slow.input.images_per_s_per_rank = 1.01 * row.images_per_s / 4;
  const PredictionRow barely = at(slow, 4);
  EXPECT_EQ(barely.limit, "network");
  EXPECT_GT(barely.efficiency, analysis::kLinearEfficiency);
  EXPECT_LT(barely.accelerator_share(), 0.5);
  EXPECT_FALSE(barely.linear());
}

TEST(Prediction, SaysOfMeasuredRanksWhatWasMeasured) {
  Training slow = training();
  slow.input.images_per_s_per_core = slow.input.images_per_s_per_rank = 60;
  slow.input.cores_per_rank = slow.input.measured_cores_per_rank = 1;
  slow.input.measured_images_per_s = {{1, 90}, {2, 120}};
  EXPECT_DOUBLE_EQ(at(slow, 1).images_per_s, 90);
  EXPECT_DOUBLE_EQ(at(slow, 2).images_per_s, 120);
  EXPECT_DOUBLE_EQ(at(slow, 4).images_per_s, 240);
  slow.input.cores_per_rank = 2;
  slow.input.images_per_s_per_rank = 120;
  EXPECT_EQ(at(slow, 1).limit, "compute") << "other cores than were measured";
}

TEST(Prediction, OfAPipelineThatDecodesBeforeItShardsGainsNothingFromRanks) {
  Training naive = training();
  naive.input.images_per_s_per_rank = 150;
  naive.input.every_rank_decodes_all = true;
  EXPECT_NEAR(at(naive, 1).images_per_s, 100, 1e-9);
  const PredictionRow row = at(naive, 8);
  EXPECT_DOUBLE_EQ(row.images_per_s, 150);
  EXPECT_NEAR(row.efficiency, 150.0 / 800, 1e-12);
  EXPECT_FALSE(row.linear());
}

TEST(Prediction, IsLimitedByStorageThatAllRanksShare) {
  Training remote = training();
  remote.input.bytes_per_image = 400e3;
  remote.input.storage_bytes_per_s = 200e6;  // 500 images/s
  EXPECT_EQ(at(remote, 4).limit, "compute");
  const PredictionRow row = at(remote, 8);
  EXPECT_EQ(row.limit, "storage");
  EXPECT_DOUBLE_EQ(row.images_per_s, 500);
  remote.input.every_rank_decodes_all = true;  // and every rank reads them all
  EXPECT_DOUBLE_EQ(at(remote, 8).images_per_s, 62.5);
}

TEST(Prediction, NamesTheNetworkWhereItCostsMoreThanFivePercent) {
  Training slow = training();
  // 94.1 MB of gradients at 2 (n-1)/n over 100 MB/s take about a second, of a step of 160 ms.
  slow.network.comm.beta_bytes_per_s = 100e6;
  const PredictionRow row = at(slow, 2);
  EXPECT_EQ(row.limit, "network");
  EXPECT_DOUBLE_EQ(row.compute_images_per_s, 200);
  EXPECT_LT(row.images_per_s, 40);
  EXPECT_NEAR(row.exposed_communication_share, 1 - row.images_per_s / 200, 1e-12);
}

// 94.1 MB at 2 (n-1)/n over 94.1 MB/s take 1 s, next to 120 ms of the last backward; without them a step of 4 batches
// takes 640 ms.
TEST(Prediction, OfAccumulatedStepsAveragesOnceForAllTheirBatches) {
  Training slow = training();
  slow.network.comm.beta_bytes_per_s = 23'536'718 * 4.0;
  slow.network.comm.bucket_bytes = slow.network.comm.first_bucket_bytes = 1'000'000'000;
  EXPECT_NEAR(at(slow, 2).images_per_s, 2 * 16 / 1.16, 1e-6);
  slow.training.accumulate_steps = 4;
  EXPECT_NEAR(at(slow, 2).images_per_s, 2 * 64 / 1.64, 1e-6);
  EXPECT_NEAR(at(slow, 1).images_per_s, 100, 1e-6);
}

TEST(Prediction, OfAHierarchicalUpdateNeedsTheRanksOfAGroup) {
  Training grouped = training();
  grouped.network.comm.update = spec::UpdateScheme::hierarchical;
  EXPECT_THROW(at(grouped, 8), SpecError);
  grouped.network.comm.ranks_per_group = 4;
  EXPECT_NO_THROW(at(grouped, 8));
}

TEST(Prediction, OfStrongScalingSharesOneBatch) {
  Training strong = training();
  strong.scaling = Scaling::strong;
  EXPECT_NEAR(at(strong, 4).images_per_s, 400, 0.01);  // 4 images each, 40 ms
  EXPECT_EQ(at(strong, 4).local_batch, 4);
  // 16 images on 3 ranks: the slowest has 6 of them, 60 ms for 16.
  EXPECT_EQ(at(strong, 3).local_batch, 6);
  EXPECT_NEAR(at(strong, 3).images_per_s, 16 / 0.06, 0.01);
  EXPECT_THROW(at(strong, 17), SpecError);
}

TEST(Prediction, OfStrongScalingTakesTheTimesOfSmallerBatchesWhereTheProfileHasThem) {
  Training strong = training();
  strong.scaling = Scaling::strong;
  spec::ProfileEntry small = strong.profile.entries.front();
  small.batch_size = 4;
  small.images_per_s = 50;  // 80 ms, not a quarter of 160 ms
  strong.profile.entries.push_back(small);
  EXPECT_NEAR(at(strong, 4).images_per_s, 16 / 0.08, 0.01);
  EXPECT_FALSE(at(strong, 4).extrapolated);
  EXPECT_TRUE(at(strong, 16).extrapolated);
  EXPECT_THAT(prediction_notes(strong, predict(strong, {4, 16})), Contains(HasSubstr("known for batch 4,")));
}

TEST(Prediction, IsMarkedBeyondWhatWasMeasured) {
  Training measured = training();
  measured.input.images_per_s_per_rank = 1000;
  measured.input.known = {.min = 1, .max = 2};
  EXPECT_FALSE(at(measured, 2).extrapolated);
  EXPECT_TRUE(at(measured, 4).extrapolated);
  EXPECT_THAT(prediction_notes(measured, predict(measured, {1, 4})),
              Contains(HasSubstr("* beyond the 1 to 2 ranks on which the input was measured")));
  EXPECT_THAT(prediction_notes(measured, predict(measured, {1, 2})), Not(Contains(HasSubstr("*"))));
}

TEST(Prediction, IsMarkedForOtherCoresThanMeasured) {
  Training measured = training();
  measured.input.known = {.min = 1, .max = 8};
  measured.input.measured_cores_per_rank = 2;
  measured.input.cores_per_rank = 8;
  EXPECT_TRUE(at(measured, 1).extrapolated);
  EXPECT_THAT(prediction_notes(measured, predict(measured, {1})), Contains(HasSubstr("measured with 2, not 8")));
}

TEST(Prediction, IsMarkedBeyondTheNetworkThatWasFitted) {
  Training fitted = training();
  fitted.network.known = {.min = 2, .max = 4};
  EXPECT_FALSE(at(fitted, 1).extrapolated);  // needs no network
  EXPECT_FALSE(at(fitted, 4).extrapolated);
  EXPECT_TRUE(at(fitted, 8).extrapolated);
  fitted.network.known_min_bytes = 8;
  fitted.network.known_max_bytes = 1 << 20;  // buckets of 25 MiB are beyond
  EXPECT_TRUE(at(fitted, 4).extrapolated);
}

TEST(Prediction, IsMarkedForAnotherBatchThanTheProfiles) {
  Training other = training();
  other.training.batch_size = 32;
  EXPECT_TRUE(at(other, 1).extrapolated);
  EXPECT_THAT(prediction_notes(other, predict(other, {1})), Contains(HasSubstr("known for batch 16, and scaled")));
}

TEST(Prediction, SaysWhatAStorageThatIsNotModelledWouldHaveToDeliver) {
  Training naive = training();
  naive.input.bytes_per_image = 400'000;
  naive.input.every_rank_decodes_all = true;
  EXPECT_THAT(prediction_notes(naive, predict(naive, {1, 8})), Contains(HasSubstr("which is 2.56 GB/s at 8 ranks")));
}

TEST(Requirement, SaysWhatAShardWouldSaveOfTheStorage) {
  Training naive = training();
  naive.input.bytes_per_image = 400'000;
  naive.input.every_rank_decodes_all = true;
  const Requirement needed = require(naive, 8, 1);
  EXPECT_NEAR(*needed.storage_bytes_per_s, 2.56e9, 1e3);
  EXPECT_THAT(needed.notes, Contains(HasSubstr("0.32 GB/s would suffice if each rank read only its images")));
}

TEST(Requirement, NamesInOneNoteWhatOnlyAReportGives) {
  EXPECT_THAT(require(training(), 1, 1).notes, testing::ElementsAre(HasSubstr("cores and storage: unknown")));
}

TEST(Requirement, AnswersInCoresStorageAndNetwork) {
  Training needs = training();
  needs.input.images_per_s_per_core = 30;
  needs.input.images_per_s_per_rank = 30;
  needs.input.bytes_per_image = 400e3;
  const Requirement needed = require(needs, 10, 0.95);
  EXPECT_DOUBLE_EQ(needed.images_per_s, 950);
  EXPECT_EQ(needed.cores_per_rank, 4);  // 95 images/s a rank, 30 a core
  ASSERT_TRUE(needed.storage_bytes_per_s);
  EXPECT_DOUBLE_EQ(*needed.storage_bytes_per_s, 380e6);
  EXPECT_THAT(needed.notes, testing::IsEmpty());
}

TEST(Requirement, OfTheNetworkIsJustEnough) {
  Training needs = training();
  const Requirement needed = require(needs, 16, 0.95);
  ASSERT_TRUE(needed.link_bytes_per_s);
  needs.network.comm.beta_bytes_per_s = *needed.link_bytes_per_s;
  EXPECT_NEAR(at(needs, 16).network_images_per_s / 1600, 0.95, 1e-4);
}

TEST(Requirement, SaysWhereNoNetworkIsEnough) {
  Training slow = training();
  slow.network.comm.launch_s = 1;
  const Requirement needed = require(slow, 16, 0.95);
  EXPECT_FALSE(needed.link_bytes_per_s);
  EXPECT_THAT(needed.notes, Contains(HasSubstr("no bandwidth is enough")));
}

// Order statistics of normal samples: Harter, Biometrika 48, 1961, table 1.
TEST(ExpectedMaximum, OfNormalValuesIsThatOfTables) {
  EXPECT_NEAR(expected_maximum(1), 0, 1e-9);
  EXPECT_NEAR(expected_maximum(2), 0.56419, 1e-5);
  EXPECT_NEAR(expected_maximum(4), 1.02938, 1e-5);
  EXPECT_NEAR(expected_maximum(16), 1.76599, 1e-5);
  EXPECT_NEAR(expected_maximum(100), 2.50759, 1e-5);
}

TEST(Prediction, OfRanksWhoseStepsVaryWaitsForTheSlowest) {
  Training even = training();
  Training uneven = even;
  uneven.step_spread = 0.1;
  EXPECT_DOUBLE_EQ(predict(uneven, {1}).front().images_per_s, predict(even, {1}).front().images_per_s);
  const PredictionRow four = predict(uneven, {4}).front();
  const double step_s = 4.0 * four.local_batch / predict(even, {4}).front().network_images_per_s;
  const double compute_s = 4.0 * four.local_batch / four.compute_images_per_s;
  EXPECT_NEAR(4.0 * four.local_batch / four.network_images_per_s, step_s + 0.1 * 1.02938 * compute_s, 1e-6 * step_s);
}

}  // namespace
}  // namespace chexbench::verbs
