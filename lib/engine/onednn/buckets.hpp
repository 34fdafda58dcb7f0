// Hands runs of the flat gradient to the reducer as soon as backward has completed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reducer.hpp"
#include "model/buckets.hpp"

namespace chexbench::engine {

// A flat gradient, cut by model::plan_buckets. Not thread-safe.
class Buckets {
 public:
  // `counts`: elements of each parameter in the order in which they complete; together they are all of `gradients`.
  Buckets(std::span<float> gradients, const std::vector<std::int64_t>& counts, model::BucketLimits limits);

  void begin_step() { next_ = 0; }
  // The first `ready` elements are complete. Elements become ready in ascending order.
  void complete(std::size_t ready, Reducer& reducer);
  const std::vector<BucketSpan>& spans() const { return spans_; }

 private:
  std::vector<BucketSpan> spans_;
  std::vector<std::size_t> ends_;  // of the buckets
  std::size_t next_ = 0;
};

}  // namespace chexbench::engine
