#include "model/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "model/networks.hpp"

namespace chexbench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Counts = std::vector<std::int64_t>;

// Limits in elements of f32, like the plans.
BucketLimits elements(std::int64_t first, std::int64_t others) {
  return {.first_bytes = 4 * first, .bytes = 4 * others};
}

TEST(PlanBuckets, OfNoTensorsIsEmpty) { EXPECT_THAT(plan_buckets({}, elements(10, 10)), IsEmpty()); }

TEST(PlanBuckets, CloseWithTheTensorThatReachesTheLimit) {
  EXPECT_THAT(plan_buckets(Counts{4, 6, 3, 6, 1}, elements(10, 10)),
              ElementsAre(BucketRange{0, 2, 10}, BucketRange{2, 3, 10}));
  EXPECT_THAT(plan_buckets(Counts{4, 5, 3, 6, 1}, elements(10, 10)),
              ElementsAre(BucketRange{0, 3, 12}, BucketRange{3, 2, 7}));
}

TEST(PlanBuckets, CountBytesAndNotElements) {
  EXPECT_THAT(plan_buckets(Counts{1, 1, 1}, {.first_bytes = 8, .bytes = 8}),
              ElementsAre(BucketRange{0, 2, 2}, BucketRange{2, 1, 1}));
  EXPECT_THAT(plan_buckets(Counts{1, 1, 1}, {.first_bytes = 9, .bytes = 9}), ElementsAre(BucketRange{0, 3, 3}));
}

TEST(PlanBuckets, HoldTheFirstBucketAloneToItsOwnLimit) {
  EXPECT_THAT(plan_buckets(Counts{2, 2, 2, 2, 2, 2}, elements(2, 6)),
              ElementsAre(BucketRange{0, 1, 2}, BucketRange{1, 3, 6}, BucketRange{4, 2, 4}));
  EXPECT_THAT(plan_buckets(Counts{2, 2, 2, 2, 2, 2}, elements(6, 2)),
              ElementsAre(BucketRange{0, 3, 6}, BucketRange{3, 1, 2}, BucketRange{4, 1, 2}, BucketRange{5, 1, 2}));
}

TEST(PlanBuckets, NeverCutATensorThatIsLargerThanTheLimit) {
  EXPECT_THAT(plan_buckets(Counts{1, 1000, 1}, elements(10, 10)),
              ElementsAre(BucketRange{0, 2, 1001}, BucketRange{2, 1, 1}));
}

TEST(PlanBuckets, WithoutALimitHoldOneTensorEach) {
  EXPECT_THAT(plan_buckets(Counts{3, 4}, elements(0, 0)), ElementsAre(BucketRange{0, 1, 3}, BucketRange{1, 1, 4}));
}

TEST(PlanBuckets, CountBeyondTwoToTheThirtyTwo) {
  constexpr std::int64_t kLarge = std::int64_t{3} << 30;  // 12 GiB of f32
  EXPECT_THAT(plan_buckets(Counts{kLarge, kLarge}, elements(2 * kLarge, 1)),
              ElementsAre(BucketRange{0, 2, 2 * kLarge}));
}

// The defaults of the spec: 1 MiB, then 25 MiB.
TEST(PlanBuckets, OfResNet50BeginWithTheLastLayerAndFollowBackward) {
  const std::vector<Parameter> backward = backward_parameters(resnet50(224));
  Counts counts;
  for (const Parameter& parameter : backward) counts.push_back(parameter.info.count());
  const auto buckets = plan_buckets(counts, {.first_bytes = 1 << 20, .bytes = 25 << 20});
  // 23.5 million parameters are 90 MiB.
  ASSERT_THAT(buckets, testing::SizeIs(testing::AllOf(testing::Ge(4u), testing::Le(5u))));
  EXPECT_EQ(backward[0].info.name, "fc.weight");
  EXPECT_LT(buckets[0].elements, buckets[1].elements);
  std::int64_t total = 0;
  int last_layer = backward.front().layer;
  for (const BucketRange& bucket : buckets) {
    EXPECT_LE(backward[bucket.first_tensor].layer, last_layer);
    last_layer = backward[bucket.first_tensor + bucket.tensors - 1].layer;
    total += bucket.elements;
  }
  EXPECT_EQ(backward[buckets.back().first_tensor + buckets.back().tensors - 1].info.name, "conv1.weight");
  EXPECT_EQ(total, parameter_count(resnet50(224)));
}

}  // namespace
}  // namespace chexbench::model
