#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/errors.hpp"
#include "engine/step_plan.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine {
namespace {

using testing::HasSubstr;

spec::ProfileEntry entry() {
  spec::ProfileEntry entry;
  entry.model = "resnet50";
  entry.batch_size = 16;
  entry.images_per_s = 160;
  entry.backward_share = 0.75;
  return entry;
}

EngineConfig config(int world, spec::CommModel model) {
  EngineConfig config;
  config.world = world;
  config.comm.model = model;
  return config;
}

TEST(StepPlan, SplitsTheProfilesTimeIntoForwardAndBackward) {
  const StepPlan plan = plan_step(entry(), config(1, spec::CommModel::real));
  EXPECT_DOUBLE_EQ(plan.compute_s(), 0.1);
  EXPECT_DOUBLE_EQ(plan.backward_s, 0.075);
  EXPECT_EQ(plan.update_s, 0);
  EXPECT_TRUE(plan.buckets.empty());
  EXPECT_THAT(plan.notes, testing::Each(testing::Not(HasSubstr("scaled"))));
}

TEST(StepPlan, ScalesAnotherBatchLinearlyAndSaysSo) {
  EngineConfig half = config(1, spec::CommModel::real);
  half.training.batch_size = 8;
  const StepPlan plan = plan_step(entry(), half);
  EXPECT_DOUBLE_EQ(plan.compute_s(), 0.05);
  EXPECT_THAT(plan.notes, testing::Contains("emulated time measured at batch 16, scaled linearly to batch 8"));
}

TEST(StepPlan, SaysThatATimeWasComputed) {
  spec::ProfileEntry computed = entry();
  computed.computed = true;
  EngineConfig half = config(1, spec::CommModel::real);
  half.training.batch_size = 8;
  EXPECT_THAT(plan_step(computed, half).notes,
              testing::IsSupersetOf({"emulated time computed at batch 16, scaled linearly to batch 8",
                                     "emulated time was computed, not measured: see its source"}));
  EXPECT_THAT(plan_step(entry(), half).notes, testing::Each(testing::Not(HasSubstr("computed, not measured"))));
}

TEST(StepPlan, SaysWhereATimeWasInterpolated) {
  spec::ProfileEntry between = entry();
  between.between = {8, 32};
  const StepPlan plan = plan_step(between, config(1, spec::CommModel::real));
  EXPECT_THAT(plan.notes, testing::Contains("emulated time interpolated linearly between batches 8 and 32"));
  EXPECT_THAT(plan.notes, testing::Each(testing::Not(HasSubstr("scaled"))));
}

TEST(StepPlan, AddsTheUpdateWhereTheSourceLeftItOut) {
  spec::ProfileEntry apart = entry();
  apart.includes_update = false;
  apart.update_s = 0.02;
  const StepPlan plan = plan_step(apart, config(1, spec::CommModel::real));
  EXPECT_EQ(plan.update_s, 0.02);
  EXPECT_DOUBLE_EQ(plan.compute_s(), 0.1);
}

TEST(StepPlan, BucketsHoldEveryGradientAndComeInTheOrderOfBackward) {
  const StepPlan plan = plan_step(entry(), config(2, spec::CommModel::real));
  std::size_t elements = 0;
  double ready_s = 0;
  for (const PlannedBucket& bucket : plan.buckets) {
    elements += bucket.elements;
    EXPECT_GE(bucket.ready_s, ready_s);
    ready_s = bucket.ready_s;
  }
  EXPECT_EQ(elements, static_cast<std::size_t>(model::parameter_count(model::make_network("resnet50", 224))));
  EXPECT_NEAR(ready_s, plan.backward_s, 1e-12);
  EXPECT_GT(plan.buckets.size(), 3u);
}

TEST(StepPlan, WithoutCommunicationThereAreNoBuckets) {
  const StepPlan plan = plan_step(entry(), config(2, spec::CommModel::none));
  EXPECT_TRUE(plan.buckets.empty());
  EXPECT_THAT(plan.notes, testing::Contains(HasSubstr("no communication")));
}

TEST(StepPlan, RefusesToCountCommunicationTwice) {
  spec::ProfileEntry with = entry();
  with.includes_communication = true;
  EXPECT_THROW(plan_step(with, config(2, spec::CommModel::real)), SpecError);
  EXPECT_THROW(plan_step(with, config(2, spec::CommModel::alpha_beta)), SpecError);
  EXPECT_NO_THROW(plan_step(with, config(2, spec::CommModel::none)));
  EXPECT_NO_THROW(plan_step(with, config(1, spec::CommModel::real)));
}

spec::CommSpec link() {
  spec::CommSpec comm;
  comm.alpha_s = 1e-3;
  comm.beta_bytes_per_s = 1e6;
  comm.launch_s = 0.5e-3;
  return comm;
}

TEST(ModelledCommunication, OfGradientsOf16BitsTakesHalfTheTimeOfTheLink) {
  spec::CommSpec comm = link();
  comm.alpha_s = comm.launch_s = 0;
  const std::vector<PlannedBucket> bucket{{.elements = 1000}};
  const double whole_s = model_communication(bucket, 4, comm).busy_s;
  for (const auto dtype : {FloatType::fp16, FloatType::bf16}) {
    comm.gradient_dtype = dtype;
    const ModelledCommunication half = model_communication(bucket, 4, comm);
    EXPECT_DOUBLE_EQ(half.busy_s, whole_s / 2);
    EXPECT_EQ(half.buckets[0].bytes, 2000u);
  }
}

// 4 ranks, 4000 bytes: 0.5 ms + 2 * 3 * 1 ms + 2 * 3/4 * 4000 / 1e6 s = 12.5 ms
TEST(RingAllReduce, TakesLaunchLatencyAndBandwidth) { EXPECT_NEAR(ring_all_reduce_s(4000, 4, link()), 12.5e-3, 1e-12); }

double average_of_4_ranks_s(spec::UpdateScheme update, int servers = 1, int ranks_per_group = 2) {
  spec::CommSpec comm = link();
  comm.launch_s = 0;
  comm.update = update;
  comm.servers = servers;
  comm.ranks_per_group = ranks_per_group;
  return average_s(4000, 4, comm);  // the whole bucket takes 4 ms on a link, a message 1 ms more
}

TEST(ModelledAverage, TakesWhatTheSchemeSends) {
  using spec::UpdateScheme;
  EXPECT_NEAR(average_of_4_ranks_s(UpdateScheme::all_reduce), 6 * (1e-3 + 1e-3), 1e-12);
  EXPECT_NEAR(average_of_4_ranks_s(UpdateScheme::ring), 6 * (1e-3 + 1e-3), 1e-12);
  EXPECT_NEAR(average_of_4_ranks_s(UpdateScheme::tree), 4 * (1e-3 + 4e-3), 1e-12);
  EXPECT_NEAR(average_of_4_ranks_s(UpdateScheme::hierarchical), 2 * (1e-3 + 4e-3) + 2 * (1e-3 + 2e-3), 1e-12);
  EXPECT_NEAR(average_of_4_ranks_s(UpdateScheme::parameter_server), 2 * (1e-3 + 12e-3), 1e-12);
  EXPECT_NEAR(average_of_4_ranks_s(UpdateScheme::parameter_server, 4), 2 * (1e-3 + 3e-3), 1e-12);
}

TEST(ModelledCommunication, BeginsABucketWhenItIsReadyAndTheOneBeforeIsDone) {
  // Each bucket takes 0.5 + 2 + 4000 / 1e6 s = 6.5 ms on 2 ranks.
  const std::vector<PlannedBucket> buckets{
      {.ready_s = 1e-3, .elements = 1000}, {.ready_s = 2e-3, .elements = 1000}, {.ready_s = 30e-3, .elements = 1000}};
  const ModelledCommunication modelled = model_communication(buckets, 2, link());
  EXPECT_NEAR(modelled.end_s, 36.5e-3, 1e-12);   // the third bucket is ready late, so it begins at 30 ms
  EXPECT_NEAR(modelled.busy_s, 19.5e-3, 1e-12);  // the gap before it does not count
  ASSERT_EQ(modelled.buckets.size(), 3u);
  EXPECT_NEAR(modelled.buckets[1].begin_s, 7.5e-3, 1e-12);
  EXPECT_NEAR(modelled.buckets[1].end_s, 14e-3, 1e-12);
  EXPECT_NEAR(modelled.buckets[2].begin_s, 30e-3, 1e-12);
  EXPECT_EQ(modelled.buckets[2].bytes, 4000u);
  const ModelledCommunication first_two = model_communication({buckets[0], buckets[1]}, 2, link());
  EXPECT_NEAR(first_two.end_s, 1e-3 + 2 * 6.5e-3, 1e-12);  // the second waits for the first
}

TEST(ModelledCommunication, IsNothingWithoutBuckets) {
  EXPECT_EQ(model_communication({}, 4, link()).end_s, 0);
  EXPECT_EQ(model_communication({}, 4, link()).busy_s, 0);
}

}  // namespace
}  // namespace chexbench::engine
