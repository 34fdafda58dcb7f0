// Plans how the gradients of many tensors are gathered into buckets, the units that are averaged over ranks at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::model {

// A bucket: a run of consecutive tensors, in the order in which backward completes their gradients.
struct BucketRange {
  std::size_t first_tensor = 0;  // index in that order
  std::size_t tensors = 0;
  std::int64_t elements = 0;  // f32 values of all its tensors together

  friend bool operator==(const BucketRange&, const BucketRange&) = default;
};

// The sizes at which a bucket is closed, counting 4 bytes per element whatever type it is sent in.
struct BucketLimits {
  std::int64_t first_bytes = 0;  // of the first bucket; small, so that communication starts early
  std::int64_t bytes = 0;        // of the other buckets
};

// Returns the buckets for tensors of `element_counts` f32 values each, in backward order. A bucket is closed by the
// tensor that brings it to its limit, so no tensor is cut, no bucket is empty, and a bucket may be larger than its
// limit (Li et al., "PyTorch Distributed", VLDB 2020). The same input gives the same plan, so all ranks agree without
// communication.
std::vector<BucketRange> plan_buckets(std::span<const std::int64_t> element_counts, BucketLimits limits);

}  // namespace chexbench::model
