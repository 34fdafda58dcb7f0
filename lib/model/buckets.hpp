// How gradients are gathered into buckets: the unit that is averaged over ranks at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::model {

// A run of consecutive tensors, in the order in which backward completes them.
struct BucketRange {
  std::size_t first_tensor = 0;
  std::size_t tensors = 0;
  std::int64_t elements = 0;

  friend bool operator==(const BucketRange&, const BucketRange&) = default;
};

struct BucketLimits {
  std::int64_t first_bytes = 0;  // of the first bucket: small, so that communication starts early
  std::int64_t bytes = 0;        // of the others
};

// Cuts tensors of `element_counts` f32 values, in backward order, into buckets. A bucket is closed by the tensor that
// brings it to its limit, so no tensor is cut and no bucket is empty (Li et al., "PyTorch Distributed", VLDB 2020).
// The same input gives the same plan on every rank.
std::vector<BucketRange> plan_buckets(std::span<const std::int64_t> element_counts, BucketLimits limits);

}  // namespace chexbench::model
