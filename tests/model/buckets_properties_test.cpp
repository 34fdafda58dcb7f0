// Properties of the buckets of any tensors.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>  // after gtest.h, which it does not include

#include "model/parameters.hpp"

namespace chexbench::model {
namespace {

std::vector<std::int64_t> any_counts() {
  return *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 5000));
}

BucketLimits any_limits() {
  return {.first_bytes = *rc::gen::inRange<std::int64_t>(0, 20000), .bytes = *rc::gen::inRange<std::int64_t>(0, 60000)};
}

std::int64_t limit_of(const BucketLimits& limits, std::size_t bucket) {
  return bucket == 0 ? limits.first_bytes : limits.bytes;
}

RC_GTEST_PROP(BucketsProperty, HoldEveryTensorOnceInItsOrder, ()) {
  const std::vector<std::int64_t> counts = any_counts();
  std::size_t next = 0;
  for (const BucketRange& bucket : plan_buckets(counts, any_limits())) {
    RC_ASSERT(bucket.first_tensor == next);
    RC_ASSERT(bucket.tensors > 0u);
    std::int64_t elements = 0;
    for (std::size_t i = 0; i < bucket.tensors; ++i) elements += counts.at(next++);
    RC_ASSERT(bucket.elements == elements);
  }
  RC_ASSERT(next == counts.size());
}

// A bucket reaches its limit with its last tensor, and not before.
RC_GTEST_PROP(BucketsProperty, ReachTheirLimitWithTheirLastTensorAndNotBefore, ()) {
  const std::vector<std::int64_t> counts = any_counts();
  const BucketLimits limits = any_limits();
  const std::vector<BucketRange> buckets = plan_buckets(counts, limits);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const std::int64_t last = counts[buckets[i].first_tensor + buckets[i].tensors - 1];
    if (i + 1 < buckets.size()) RC_ASSERT(4 * buckets[i].elements >= limit_of(limits, i));
    if (buckets[i].tensors > 1) RC_ASSERT(4 * (buckets[i].elements - last) < limit_of(limits, i));
  }
}

// Backward hands a bucket over before later tensors are known.
RC_GTEST_PROP(BucketsProperty, DoNotDependOnTheTensorsAfterThem, ()) {
  const std::vector<std::int64_t> counts = any_counts();
  const BucketLimits limits = any_limits();
  const auto kept = *rc::gen::inRange<std::size_t>(0, counts.size() + 1);
  const std::vector<BucketRange> all = plan_buckets(counts, limits);
  const std::vector<BucketRange> some = plan_buckets(std::span(counts).first(kept), limits);
  for (std::size_t i = 0; i + 1 < some.size(); ++i) RC_ASSERT(some[i] == all[i]);
}

}  // namespace
}  // namespace chexbench::model
