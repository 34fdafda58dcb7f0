#include "model/buckets.hpp"

namespace chexbench::model {

std::vector<BucketRange> plan_buckets(std::span<const std::int64_t> element_counts, BucketLimits limits) {
  std::vector<BucketRange> buckets;
  bool open = false;
  for (std::size_t i = 0; i < element_counts.size(); ++i) {
    if (!open) buckets.push_back({.first_tensor = i});
    BucketRange& bucket = buckets.back();
    ++bucket.tensors;
    bucket.elements += element_counts[i];
    const std::int64_t limit_bytes = buckets.size() == 1 ? limits.first_bytes : limits.bytes;
    open = bucket.elements * static_cast<std::int64_t>(sizeof(float)) < limit_bytes;
  }
  return buckets;
}

}  // namespace chexbench::model
