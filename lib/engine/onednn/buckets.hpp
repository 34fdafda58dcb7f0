// Hands buckets of the flat gradient array to the reducer as soon as backward has completed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/reducer.hpp"
#include "model/buckets.hpp"

namespace chexbench::engine::onednn {

// The flat gradient array, cut into buckets by model::plan_buckets. Not thread-safe.
class Buckets {
 public:
  // `counts` holds the number of elements of each parameter, in the order in which backward completes them; they add up
  // to gradients.size(). `gradients` must outlive this object.
  Buckets(std::span<float> gradients, const std::vector<std::int64_t>& counts, model::BucketLimits limits);

  // Must be called before each backward pass.
  void begin_step() { next_ = 0; }
  // Must be called when backward has completed the first `ready` elements, which it does in ascending order. Gives the
  // reducer each bucket that is complete now and was not before. @throws DeviceError if another rank was lost
  void complete(std::size_t ready, Reducer& reducer);
  const std::vector<BucketSpan>& spans() const { return spans_; }

 private:
  std::vector<BucketSpan> spans_;
  std::vector<std::size_t> ends_;  // where each bucket ends, in elements
  std::size_t next_ = 0;
};

}  // namespace chexbench::engine::onednn
