#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
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
  const StepPlan bucket{.buckets = {{.elements = 1000}}, .notes = {}};
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
  StepPlan plan{.buckets = {{.ready_s = 1e-3, .elements = 1000},
                            {.ready_s = 2e-3, .elements = 1000},
                            {.ready_s = 30e-3, .elements = 1000}},
                .notes = {}};
  const ModelledCommunication modelled = model_communication(plan, 2, link());
  EXPECT_NEAR(modelled.end_s, 36.5e-3, 1e-12);   // the third bucket is ready late, so it begins at 30 ms
  EXPECT_NEAR(modelled.busy_s, 19.5e-3, 1e-12);  // the gap before it does not count
  ASSERT_EQ(modelled.buckets.size(), 3u);
  EXPECT_NEAR(modelled.buckets[1].begin_s, 7.5e-3, 1e-12);
  EXPECT_NEAR(modelled.buckets[1].end_s, 14e-3, 1e-12);
  EXPECT_NEAR(modelled.buckets[2].begin_s, 30e-3, 1e-12);
  EXPECT_EQ(modelled.buckets[2].bytes, 4000u);
  plan.buckets.pop_back();
  const ModelledCommunication first_two = model_communication(plan, 2, link());
  EXPECT_NEAR(first_two.end_s, 1e-3 + 2 * 6.5e-3, 1e-12);  // the second waits for the first
}

TEST(ModelledCommunication, IsNothingWithoutBuckets) {
  EXPECT_EQ(model_communication({}, 4, link()).end_s, 0);
  EXPECT_EQ(model_communication({}, 4, link()).busy_s, 0);
}

// Two buckets of 4000 bytes, complete after 1 and 2 ms of a backward of 10 ms, of five tensors.
StepPlan two_buckets() {
  return {.backward_s = 10e-3,
          .buckets = {{.ready_s = 1e-3, .elements = 1000}, {.ready_s = 2e-3, .elements = 1000}},
          .notes = {},
          .tensors = 5};
}

TEST(CommunicationSoftware, AddsATimePerTensorThatBackwardDoesNotHide) {
  StepPlan plan = two_buckets();
  const ModelledCommunication links = model_communication(plan, 2, link());
  plan.software.tensor_s = 1e-3;
  const ModelledCommunication modelled = model_communication(plan, 2, link());
  EXPECT_DOUBLE_EQ(modelled.end_s, links.end_s);
  EXPECT_DOUBLE_EQ(modelled.exposed_s(1), 5e-3);
  EXPECT_DOUBLE_EQ(modelled.exposed_s(10e-3), links.exposed_s(10e-3) + 5e-3);
  EXPECT_DOUBLE_EQ(modelled.busy_s, links.busy_s + 5e-3);
  EXPECT_EQ(model_communication(plan, 1, link()).exposed_s(1), 0) << "one rank sends nothing";
}

TEST(CommunicationSoftware, InHostMemoryHasItsBandwidthFromTheStartOfBackward) {
  StepPlan plan = two_buckets();
  plan.software.host_bytes_per_s = 1e5;
  spec::CommSpec comm = link();
  comm.alpha_s = comm.launch_s = 0;
  EXPECT_NEAR(model_communication(plan, 2, comm).end_s, 8000 / 1e5, 1e-12);  // 2 (n-1)/n = 1
  plan.software.host_bytes_per_s = 1e9;
  EXPECT_NEAR(model_communication(plan, 2, comm).end_s, 8000 / 1e6, 1e-12) << "the link is the slower of the two";
}

TEST(CommunicationSoftware, WithServersOnHostsSendsEachHostsSumAfterBackward) {
  StepPlan plan = two_buckets();
  plan.software.servers_on_hosts = true;
  spec::CommSpec comm = link();
  comm.ranks_per_host = 4;
  EXPECT_DOUBLE_EQ(model_communication(plan, 4, comm).software_s, 0) << "one host has no network";
  const ModelledCommunication of_three_hosts = model_communication(plan, 9, comm);
  EXPECT_NEAR(of_three_hosts.software_s, 2 * 2.0 / 3 * 8000 / 1e6, 1e-12);
  comm.ranks_per_host = std::numeric_limits<int>::max();
  EXPECT_EQ(model_communication(plan, 9, comm).software_s, 0);
  comm.ranks_per_host = 4;
  EXPECT_DOUBLE_EQ(of_three_hosts.end_s, model_communication(plan, 4, comm).end_s) << "the ring is within a host";
}

TEST(Links, OfARingAreTheSlowestThatItCrosses) {
  spec::CommSpec comm;
  comm.link = "10gbe";
  comm.host_link = "pcie3";
  comm.ranks_per_host = 4;
  spec::CommProfile tcp;
  tcp.line_rate_share = 0.5;
  const spec::CommSpec within = on_links(comm, tcp, 4);
  EXPECT_DOUBLE_EQ(within.beta_bytes_per_s, spec::find_link("pcie3").beta_bytes_per_s);
  EXPECT_DOUBLE_EQ(within.alpha_s, spec::find_link("pcie3").alpha_s);
  const spec::CommSpec between = on_links(comm, tcp, 5);
  EXPECT_DOUBLE_EQ(between.beta_bytes_per_s, spec::find_link("10gbe").beta_bytes_per_s / 2);
  EXPECT_DOUBLE_EQ(between.alpha_s, spec::find_link("10gbe").alpha_s);
  comm.link = "nvlink2";
  comm.ranks_per_host = 1;
  EXPECT_DOUBLE_EQ(on_links(comm, {}, 2).beta_bytes_per_s, spec::find_link("nvlink2").beta_bytes_per_s)
      << "a rank alone on its host uses no link of the host";
  comm.link = "10gbe";
  comm.ranks_per_host = 0;
  comm.host_link.clear();
  EXPECT_DOUBLE_EQ(on_links(comm, {}, 2).beta_bytes_per_s, spec::find_link("10gbe").beta_bytes_per_s);
  comm.link.clear();
  EXPECT_DOUBLE_EQ(on_links(comm, {}, 2).beta_bytes_per_s, comm.beta_bytes_per_s);
}

TEST(ModelledCommunication, OfAScaleModelTakesItsFactorAsLong) {
  StepPlan plan = two_buckets();
  plan.software.tensor_s = 1e-3;
  const ModelledCommunication full = model_communication(plan, 4, link());
  const ModelledCommunication scaled = slowed(full, 3);
  EXPECT_DOUBLE_EQ(scaled.exposed_s(30e-3), 3 * full.exposed_s(10e-3));
  EXPECT_DOUBLE_EQ(scaled.busy_s, 3 * full.busy_s);
  EXPECT_DOUBLE_EQ(scaled.buckets[1].begin_s, 3 * full.buckets[1].begin_s);
}

}  // namespace
}  // namespace chexbench::engine
